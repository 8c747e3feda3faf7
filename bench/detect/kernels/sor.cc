// SPDX-License-Identifier: Apache-2.0
//
// Successive over-relaxation on a square grid, red and black points in turn, rows split over the
// threads, a barrier after each half sweep (Java Grande's sor, with a barrier that is correct).
// `work` sweeps over `data` rows and columns.
#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 250, 1400);
  const long size = data;
  constexpr double kOmega = 1.25;
  std::vector<std::vector<double>> grid(size, std::vector<double>(size));
  bench::Random random(10101);
  for (auto& row : grid)
    for (double& value : row) value = random.uniform() * 1e-6;
  bench::Barrier barrier(threads);
  bench::parallel(threads, [&, threads = threads, work = work](int t) {
    bench::Slice slice(size - 2, t, threads);
    for (long half = 0; half < 2 * work; half++) {
      for (long i = slice.begin + 1; i < slice.end + 1; i++) {
        double* row = grid[i].data();
        const double* above = grid[i - 1].data();
        const double* below = grid[i + 1].data();
        for (long j = 1 + ((i + half) & 1); j < size - 1; j += 2)
          row[j] = kOmega * 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]) + (1 - kOmega) * row[j];
      }
      barrier.wait();
    }
  });
  double total = 0;
  for (const auto& row : grid)
    for (double value : row) total += value;
  return bench::finish(bench::bits(total));
}
