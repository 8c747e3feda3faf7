// SPDX-License-Identifier: Apache-2.0
//
// Product of matrices, blocked, rows split over the threads. The second matrix has `data` rows and columns;
// `work` rows of the product are computed, several times the same ones if it has fewer.
#include <algorithm>

#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1400, 1400);
  const long n = data, rows = std::min(work, n), passes = work / rows;
  std::vector<double> a(rows * n), b(n * n), c(rows * n);
  bench::Random random(3);
  for (double& value : a) value = random.uniform();
  for (double& value : b) value = random.uniform();
  bench::parallel(threads, [&, threads = threads](int t) {
    constexpr long kBlock = 60;
    bench::Slice mine(rows, t, threads);
    for (long pass = 0; pass < passes; pass++)
      for (long kk = 0; kk < n; kk += kBlock)
        for (long i = mine.begin; i < mine.end; i++)
          for (long k = kk; k < std::min(kk + kBlock, n); k++) {
            double factor = a[i * n + k];
            for (long j = 0; j < n; j++) c[i * n + j] += factor * b[k * n + j];
          }
  });
  double total = 0;
  for (double value : c) total += value;
  return bench::finish(bench::bits(total));
}
