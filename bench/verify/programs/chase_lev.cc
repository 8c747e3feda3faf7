// SPDX-License-Identifier: Apache-2.0
//
// The deque of Chase and Lev: its owner pushes two numbers and takes one, N thieves steal one each.
//
// EXECUTIONS: sc 1: 7, 2: 117
// EXECUTIONS: rf 1: 7, 2: 117
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> top, bottom, slots[4];

void own() {
  for (int value = 1; value <= 2; ++value) {
    const int b = bottom.load();
    slots[b].store(value);
    bottom.store(b + 1);
  }
  const int b = bottom.load() - 1;
  bottom.store(b);
  int t = top.load();
  if (t > b) {
    bottom.store(b + 1);
    return;
  }
  (void)slots[b].load();
  if (t < b) return;
  top.compare_exchange_strong(t, t + 1);
  bottom.store(b + 1);
}

void steal() {
  int t = top.load();
  if (t >= bottom.load()) return;
  (void)slots[t].load();
  top.compare_exchange_strong(t, t + 1);
}

int main(int argc, char** argv) {
  together(number(argc, argv, 1) + 1, [](int thread) { thread == 0 ? own() : steal(); });
}
