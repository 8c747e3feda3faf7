// SPDX-License-Identifier: Apache-2.0
//
// Worksharing: sweeps over a grid, a barrier after each, and a reduction at the end. work: sweeps; data: the
// side of the grid.
#include "team.h"

int main(int argc, char** argv) {
  const bench::Arguments given = bench::arguments(argc, argv, 100, 300);
  const long work = given.work, data = given.data;
  const long n = data;
  std::vector<double> grid(n * n), next(n * n);
  bench::Random random(1);
  for (double& value : grid) value = random.uniform();
  next = grid;
  double sum = 0;
  bench::with_team(given.threads, [&] {
    for (long sweep = 0; sweep < work; sweep++) {
#pragma omp parallel for schedule(static)
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          next[i * n + j] =
              (grid[i * n + j - 1] + grid[i * n + j + 1] + grid[i * n + j - n] + grid[i * n + j + n]) / 4;
      grid.swap(next);
    }
#pragma omp parallel for schedule(static) reduction(max : sum)
    for (long i = 0; i < n * n; i++) sum = grid[i] > sum ? grid[i] : sum;
  });
  return bench::finish(bench::bits(sum));
}
