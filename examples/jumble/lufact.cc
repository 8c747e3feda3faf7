// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, lufact (Java Grande): LU factorisation with partial pivoting. Thread 0 scales the column
// of the pivot, then all threads update columns of their own. Between these steps there is a barrier made of
// plain flags: an old flag lets a thread pass too early, after which the threads wait for each other for
// ever; and the columns may be read as they were before it.
//
// lufact [SIZE]; solves a system whose solution is all ones, exits with 1 if it finds another.
//
// EXPECT-VERDICT: TournamentBarrier::is_done[] destructive no-end|livelock
// EXPECT-VERDICT: matrix[] destructive exit:1
// EXPECT-RACE: TournamentBarrier::is_done[]
// EXPECT-RACE: matrix[]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "tournament_barrier.h"

constexpr int kThreads = 4, kMost = 1000;

double matrix[kMost][kMost];  // by columns
int pivots[kMost];            // written by thread 0, read when it has ended

int find_pivot(int k, int size) {
  int best = k;
  for (int i = k + 1; i < size; ++i)
    if (std::fabs(matrix[k][i]) > std::fabs(matrix[k][best])) best = i;
  return best;
}

void exchange(int column, int k, int pivot) {
  const double value = matrix[column][k];
  matrix[column][k] = matrix[column][pivot];
  matrix[column][pivot] = value;
}

void scale(int k, int pivot, int size) {
  exchange(k, k, pivot);
  const double factor = -1.0 / matrix[k][k];
  for (int i = k + 1; i < size; ++i) matrix[k][i] *= factor;
}

void update(int column, int k, int pivot, int size) {
  exchange(column, k, pivot);
  const double factor = matrix[column][k];
  for (int i = k + 1; i < size; ++i) matrix[column][i] += factor * matrix[k][i];
}

void factorise(int id, int size, TournamentBarrier& barrier) {
  for (int k = 0; k < size - 1; ++k) {
    const int pivot = find_pivot(k, size);
    barrier.wait(id);
    if (id == 0) {
      pivots[k] = pivot;
      scale(k, pivot, size);
    }
    barrier.wait(id);
    for (int column = k + 1 + id; column < size; column += kThreads) update(column, k, pivot, size);
    barrier.wait(id);
  }
}

std::vector<double> solve(std::vector<double> right) {
  const int size = static_cast<int>(right.size());
  for (int k = 0; k < size - 1; ++k) {
    std::swap(right[k], right[pivots[k]]);
    for (int i = k + 1; i < size; ++i) right[i] += right[k] * matrix[k][i];
  }
  for (int k = size - 1; k >= 0; --k) {
    right[k] /= matrix[k][k];
    for (int i = 0; i < k; ++i) right[i] -= right[k] * matrix[k][i];
  }
  return right;
}

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 9;
  if (size < 2 || size > kMost) return 2;
  std::vector<double> right(size, 0.0);
  unsigned random = 1325;
  for (int column = 0; column < size; ++column)
    for (int i = 0; i < size; ++i) {
      random = 3125 * random % 65536;
      right[i] += matrix[column][i] = (random - 32768.0) / 16384.0;
    }
  TournamentBarrier barrier(kThreads);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) threads.emplace_back(factorise, id, size, std::ref(barrier));
  for (std::thread& thread : threads) thread.join();
  double worst = 0;
  for (double value : solve(right)) worst = std::fmax(worst, std::isfinite(value) ? std::fabs(value - 1) : 1);
  std::printf("%s\n", worst < 1e-6 ? "valid" : "wrong");
  return worst < 1e-6 ? 0 : 1;
}
