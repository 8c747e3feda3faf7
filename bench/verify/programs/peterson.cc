// SPDX-License-Identifier: Apache-2.0
//
// Peterson's lock, taken N times by each of two threads.
//
// EXECUTIONS: sc 1: 12, 2: 672
// EXECUTIONS: rf 1: 12
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> wants[2], turn;
int counter;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 1);
  together(2, [n](int self) {
    for (int k = 0; k < n; ++k) {
      wants[self].store(1);
      turn.store(1 - self);
      while (wants[1 - self].load() == 1 && turn.load() == 1 - self) {
      }
      ++counter;
      wants[self].store(0);
    }
  });
  return counter == 2 * n ? 0 : 1;
}
