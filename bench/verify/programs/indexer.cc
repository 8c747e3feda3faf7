// SPDX-License-Identifier: Apache-2.0
//
// Each thread puts four numbers into a table of 128 slots, probing on while a slot is taken.
//
// EXECUTIONS: sc 11: 1, 12: 8, 13: 64
// EXECUTIONS: rf 11: 1, 12: 8, 13: 64
// SOURCE: 8^(N-11), by brute force too (brute_force.py); the tables of DPOR (POPL 2005) and Optimal DPOR
// (POPL 2014) have this family
#include "threads.h"

std::atomic<int> table[128];

int main(int argc, char** argv) {
  together(number(argc, argv, 12), [](int thread) {
    for (int m = 1; m <= 4; ++m) {
      const int w = 11 * m + thread;
      int at = 7 * w % 128;
      for (int empty = 0; !table[at].compare_exchange_strong(empty, w); empty = 0) at = (at + 1) % 128;
    }
  });
}
