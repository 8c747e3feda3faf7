// SPDX-License-Identifier: Apache-2.0
//
// Two threads add two variables to each other, N times each.
//
// EXECUTIONS: sc 1: 3, 2: 19, 3: 141
// EXECUTIONS: rf 1: 3, 2: 19, 3: 141
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> i{1}, j{1};

int main(int argc, char** argv) {
  const int n = number(argc, argv, 1);
  together(2, [n](int thread) {
    std::atomic<int>& mine = thread == 0 ? i : j;
    std::atomic<int>& other = thread == 0 ? j : i;
    for (int k = 0; k < n; ++k) {
      const int old = mine.load();
      mine.store(old + other.load());
    }
  });
}
