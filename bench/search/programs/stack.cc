// SPDX-License-Identifier: Apache-2.0
//
// A lock-free stack of nodes that are used again: pop compares the node, which may have been away meanwhile
// (ABA). With a number that counts changes it is right.
//
// BUG stack_aba_2: -DTHREADS=2
// BUG stack_aba_3: -DTHREADS=3
// CORRECT stack_counted: -DTHREADS=2 -DCOUNTED
#include "parallel.h"

static constexpr int kNodes = 3;
#ifdef COUNTED
static constexpr int kChange = 16;
#else
static constexpr int kChange = 0;
#endif
static std::atomic<int> top{1};  // node, and above it how often it changed
static std::atomic<int> next[kNodes + 1] = {0, 2, 3, 0};
static std::atomic<int> users[kNodes + 1];

static int pop() {
  for (;;) {
    int seen = top;
    if (seen % 16 == 0) return 0;
    int below = next[seen % 16];
    if (top.compare_exchange_strong(seen, seen / 16 * 16 + kChange + below)) return seen % 16;
  }
}

static void push(int node) {
  for (;;) {
    int seen = top;
    next[node] = seen % 16;
    if (top.compare_exchange_strong(seen, seen / 16 * 16 + kChange + node)) return;
  }
}

int main() {
  in_parallel_each(THREADS, [](int) {
    int one = pop();
    int two = pop();
    for (int node : {one, two}) {
      if (node != 0) assert(users[node]++ == 0);
    }
    for (int node : {one, two}) {
      if (node == 0) continue;
      --users[node];
      push(node);
    }
  });
}
