// SPDX-License-Identifier: Apache-2.0
//
// Setters write two plain variables, a then b; a checker that runs between the two stores, before any setter
// has come to the second, sees half of it. The argument is the number of threads.
//
// EXPECT-FAILURE: assertion
// SWITCHES: 1
// RUN-ARGS: 3
// RUN-ARGS: 5
// RUN-ARGS: 10
#include <cassert>
#include <cstdlib>
#include <thread>
#include <vector>

int a = 0, b = 0;

void set() {
  a = 1;
  b = -1;
}

void check() {
  int seen_a = a, seen_b = b;
  assert((seen_a == 0 && seen_b == 0) || (seen_a == 1 && seen_b == -1));
}

int main(int count, char** arguments) {
  int setters = (count > 1 ? std::atoi(arguments[1]) : 3) - 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < setters; ++i) threads.emplace_back(set);
  threads.emplace_back(check);
  for (std::thread& thread : threads) thread.join();
}
