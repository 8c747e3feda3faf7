// SPDX-License-Identifier: Apache-2.0
//
// A function's static with a constructor: the guard orders construction before every use.
//
// EXPECT-NO-RACE
#include <thread>
#include <vector>

struct Table {
  int values[16];
  Table() {
    for (int i = 0; i < 16; i++) values[i] = i;
  }
};

const Table& table() {
  static Table instance;
  return instance;
}

int main() {
  int sums[4] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&sums, i] {
      for (int value : table().values) sums[i] += value;
    });
  for (auto& thread : threads) thread.join();
  for (int sum : sums)
    if (sum != 120) return 1;
  return 0;
}
