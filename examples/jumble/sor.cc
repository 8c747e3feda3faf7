// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, sor (Java Grande): successive over-relaxation, red and black points by turns. After each
// half sweep a thread waits until its neighbours have come as far. The counters for that are volatile, which
// orders nothing: the rows at the border of a neighbour may be read as they were. The counters themselves
// only grow, so that an old one makes a thread wait longer; only one that stays old for ever does harm.
//
// sor [SIZE [SWEEPS]]; exits with 1 if four threads compute something else than one.
//
// EXPECT-VERDICT: grid[] destructive exit:1
// EXPECT-VERDICT: finished[] destructive no-end|exit:1
// EXPECT-RACE: grid[]
// EXPECT-RACE: finished[]
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kThreads = 4, kMost = 2002;
constexpr double kOmega = 1.25;

double grid[kMost][kMost];
volatile long finished[kThreads];  // half sweeps of each thread

void fill(int size) {
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) grid[i][j] = ((i * 31 + j * 17) % 101) * 1e-2;
}

double total(int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) sum += grid[i][j];
  return sum;
}

void meet_neighbours(int id) {
  const long mine = finished[id] + 1;
  finished[id] = mine;
  if (id > 0)
    while (finished[id - 1] < mine) std::this_thread::yield();
  if (id < kThreads - 1)
    while (finished[id + 1] < mine) std::this_thread::yield();
}

void relax(int id, int threads, int size, int sweeps) {
  const int begin = 1 + (size - 2) * id / threads, end = 1 + (size - 2) * (id + 1) / threads;
  for (int half = 0; half < 2 * sweeps; ++half) {
    for (int i = begin; i < end; ++i)
      for (int j = 1 + (i + half) % 2; j < size - 1; j += 2)
        grid[i][j] = kOmega / 4 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) +
                     (1 - kOmega) * grid[i][j];
    if (threads > 1) meet_neighbours(id);
  }
}

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 14, sweeps = count > 2 ? std::atoi(arguments[2]) : 3;
  if (size < 2 + kThreads || size > kMost || sweeps < 1) return 2;
  fill(size);
  relax(0, 1, size, sweeps);
  const double right = total(size);
  fill(size);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) threads.emplace_back(relax, id, kThreads, size, sweeps);
  for (std::thread& thread : threads) thread.join();
  const double sum = total(size);
  std::printf("%s %.12f\n", sum == right ? "valid" : "wrong", sum);
  return sum == right ? 0 : 1;
}
