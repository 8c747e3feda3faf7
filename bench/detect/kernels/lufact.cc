// SPDX-License-Identifier: Apache-2.0
//
// LU factorisation with partial pivoting (Java Grande's lufact). In each step one thread finds the pivot and
// scales the column; all threads update the columns that are theirs. `work` steps on matrices with `data`
// columns: a matrix that is done is filled anew; one that was done last is solved.
#include <cmath>

#include "../kernel.h"

namespace {
using Column = std::vector<double>;
using Matrix = std::vector<Column>;

void fill(Column& column, long number) {
  bench::Random random(1325 + number);
  for (double& value : column) value = random.uniform() - 0.5;
}

long find_pivot(const Column& column, long k) {
  long best = k;
  for (long i = k + 1; i < static_cast<long>(column.size()); i++)
    if (std::fabs(column[i]) > std::fabs(column[best])) best = i;
  return best;
}

void scale(Column& column, long k, long pivot) {
  std::swap(column[k], column[pivot]);
  double factor = -1.0 / column[k];
  for (size_t i = k + 1; i < column.size(); i++) column[i] *= factor;
}

void update(Column& column, const Column& from, long k, long pivot) {
  std::swap(column[k], column[pivot]);
  double factor = column[k];
  for (size_t i = k + 1; i < column.size(); i++) column[i] += factor * from[i];
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1499, 1500);
  const long n = data;
  Matrix matrix(n, Column(n));
  Column sums(n, 0.0), right;
  for (long j = 0; j < n; j++) {
    fill(matrix[j], j);
    for (long i = 0; i < n; i++) sums[i] += matrix[j][i];
  }
  right = sums;
  bench::Barrier barrier(threads);
  long pivot = 0;
  bench::parallel(threads, [&, threads = threads, work = work](int t) {
    for (long step = 0; step < work; step++) {
      const long k = step % (n - 1);
      if (k == 0 && step > 0) {
        for (long j = t; j < n; j += threads) fill(matrix[j], j);
        if (t == 0) right = sums;
        barrier.wait();
      }
      if (k % threads == t) {
        pivot = find_pivot(matrix[k], k);
        scale(matrix[k], k, pivot);
        update(right, matrix[k], k, pivot);
      }
      barrier.wait();
      for (long j = k + 1; j < n; j++)
        if (j % threads == t) update(matrix[j], matrix[k], k, pivot);
      barrier.wait();
    }
  });
  uint64_t checksum = 0;
  for (double value : matrix[n - 1]) checksum = checksum * 31 + bench::bits(value);
  if (work % (n - 1) != 0) return bench::finish(checksum);
  for (long k = n - 1; k >= 0; k--) {
    right[k] /= matrix[k][k];
    for (long i = 0; i < k; i++) right[i] -= right[k] * matrix[k][i];
  }
  double worst = 0;  // the solution is all ones
  for (double value : right) {
    worst = std::fmax(worst, std::fabs(value - 1.0));
    checksum = checksum * 31 + bench::bits(value);
  }
  if (worst > 1e-6) return 1;
  return bench::finish(checksum);
}
