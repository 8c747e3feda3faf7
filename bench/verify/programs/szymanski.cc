// SPDX-License-Identifier: Apache-2.0
//
// Szymanski's lock for two threads, taken once by each.
//
// EXECUTIONS: sc 1: 350
// EXECUTIONS: rf 1: 350
// BLOCKED: rc11 59
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> flags[2];
int counter;

int main() {
  together(2, [](int self) {
    std::atomic<int>&mine = flags[self], &other = flags[1 - self];
    mine.store(1);
    while (other.load() >= 3) {
    }
    mine.store(3);
    if (other.load() == 1) {
      mine.store(2);
      while (other.load() != 4) {
      }
    }
    mine.store(4);
    if (self == 1) {
      while (other.load() >= 2) {
      }
    }
    ++counter;
    while (self == 0) {
      const int seen = other.load();
      if (seen != 2 && seen != 3) break;
    }
    mine.store(0);
  });
  return counter == 2 ? 0 : 1;
}
