// SPDX-License-Identifier: Apache-2.0
//
// Product of two square matrices, blocked, rows split over the threads.
#include <algorithm>

#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 1400);
  const long n = size;
  std::vector<double> a(n * n), b(n * n), c(n * n);
  bench::Random random(3);
  for (double& value : a) value = random.uniform();
  for (double& value : b) value = random.uniform();
  bench::parallel(threads, [&, threads = threads](int t) {
    constexpr long kBlock = 60;
    bench::Slice rows(n, t, threads);
    for (long kk = 0; kk < n; kk += kBlock)
      for (long i = rows.begin; i < rows.end; i++)
        for (long k = kk; k < std::min(kk + kBlock, n); k++) {
          double factor = a[i * n + k];
          for (long j = 0; j < n; j++) c[i * n + j] += factor * b[k * n + j];
        }
  });
  double total = 0;
  for (double value : c) total += value;
  return bench::finish(bench::bits(total));
}
