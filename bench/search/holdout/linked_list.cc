// SPDX-License-Identifier: Apache-2.0
//
// A list by indices, 1 -> 2 -> 3: one thread removes 2 and another inserts 4 behind 2, each with one
// compare-and-swap and no mark on the removed node, so the new node can be lost.
//
// BUG linked_list: -DTHIRD=0
// BUG linked_list_3: -DTHIRD=1
#include "../programs/parallel.h"

static std::atomic<int> next_of[6] = {0, 2, 3, 0, 0, 0};

static void remove_behind(int node) {
  for (;;) {
    int victim = next_of[node];
    if (victim == 0) return;
    int after = next_of[victim];
    if (next_of[node].compare_exchange_strong(victim, after)) return;
  }
}

static void insert_behind(int node, int fresh) {
  for (;;) {
    int after = next_of[node];
    next_of[fresh] = after;
    if (next_of[node].compare_exchange_strong(after, fresh)) return;
  }
}

static bool has(int wanted) {
  int node = 1;
  while (node != 0 && node != wanted) node = next_of[node];
  return node == wanted;
}

int main() {
  in_parallel_each(2 + THIRD, [](int me) {
    if (me == 0) {
      remove_behind(1);
    } else if (has(2)) {
      insert_behind(2, 3 + me);
      if (has(2)) assert(has(3 + me));
    }
  });
}
