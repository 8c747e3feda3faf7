// SPDX-License-Identifier: Apache-2.0
//
// LU factorisation with partial pivoting, then a solve (Java Grande's lufact). In each step one thread
// finds the pivot and scales the column; all threads update the columns that are theirs.
#include <cmath>

#include "../kernel.h"

namespace {
using Matrix = std::vector<std::vector<double>>;  // by column

long find_pivot(const std::vector<double>& column, long k) {
  long best = k;
  for (long i = k + 1; i < static_cast<long>(column.size()); i++)
    if (std::fabs(column[i]) > std::fabs(column[best])) best = i;
  return best;
}

void scale(std::vector<double>& column, long k, long pivot) {
  std::swap(column[k], column[pivot]);
  double factor = -1.0 / column[k];
  for (size_t i = k + 1; i < column.size(); i++) column[i] *= factor;
}

void update(std::vector<double>& column, const std::vector<double>& from, long k, long pivot) {
  std::swap(column[k], column[pivot]);
  double factor = column[k];
  for (size_t i = k + 1; i < column.size(); i++) column[i] += factor * from[i];
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 1500);
  Matrix matrix(size, std::vector<double>(size));
  std::vector<double> right(size, 0.0);
  bench::Random random(1325);
  for (auto& column : matrix)
    for (long i = 0; i < size; i++) right[i] += column[i] = random.uniform() - 0.5;
  bench::Barrier barrier(threads);
  long pivot = 0;
  bench::parallel(threads, [&, threads = threads, size = size](int t) {
    for (long k = 0; k < size - 1; k++) {
      if (k % threads == t) {
        pivot = find_pivot(matrix[k], k);
        scale(matrix[k], k, pivot);
        update(right, matrix[k], k, pivot);
      }
      barrier.wait();
      for (long j = k + 1; j < size; j++)
        if (j % threads == t) update(matrix[j], matrix[k], k, pivot);
      barrier.wait();
    }
  });
  for (long k = size - 1; k >= 0; k--) {
    right[k] /= matrix[k][k];
    for (long i = 0; i < k; i++) right[i] -= right[k] * matrix[k][i];
  }
  double worst = 0;  // the solution is all ones
  uint64_t checksum = 0;
  for (double value : right) {
    worst = std::fmax(worst, std::fabs(value - 1.0));
    checksum = checksum * 31 + bench::bits(value);
  }
  if (worst > 1e-6) return 1;
  return bench::finish(checksum);
}
