// SPDX-License-Identifier: Apache-2.0
//
// A sequence lock: a writer of two words, and N readers that give up if they were disturbed.
//
// EXECUTIONS: sc 1: 11, 2: 121
// EXECUTIONS: rf 1: 11, 2: 121
// SOURCE: 11^N, found by brute force (brute_force.py)
#include "threads.h"

std::atomic<int> sequence, first, second;

int main(int argc, char** argv) {
  together(number(argc, argv, 1) + 1, [](int thread) {
    if (thread == 0) {
      sequence.store(1);
      first.store(1);
      second.store(1);
      sequence.store(2);
      return;
    }
    const int before = sequence.load();
    if (before % 2 != 0) return;
    const int a = first.load(), b = second.load();
    if (sequence.load() == before && a != b) abort();
  });
}
