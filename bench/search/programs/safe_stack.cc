// SPDX-License-Identifier: Apache-2.0
//
// A bounded free list of array cells, claimed by a counter and an exchange of the cell's link, in the way of
// the "safe stack": two of three threads can hold one cell. A failure with eight preemptions is known; fewer
// may do.
//
// BUG safe_stack_3: -DTHREADS=3
#include "parallel.h"

static constexpr int kCells = 3;
static std::atomic<int> head, free_cells{kCells};
static std::atomic<int> links[kCells] = {1, 2, -1};
static std::atomic<int> value[kCells];

static int take() {
  while (free_cells > 1) {
    int first = head;
    int next = links[first].exchange(-1);
    if (next < 0) continue;
    int expected = first;
    if (head.compare_exchange_strong(expected, next)) {
      --free_cells;
      return first;
    }
    links[first].exchange(next);
  }
  return -1;
}

static void give(int cell) {
  int first = head;
  do {
    links[cell] = first;
  } while (!head.compare_exchange_strong(first, cell));
  ++free_cells;
}

int main() {
  in_parallel_each(THREADS, [](int me) {
    for (int round = 0; round < 2; ++round) {
      int cell = -1;
      for (int tries = 0; tries < 3 && cell < 0; ++tries) cell = take();
      if (cell < 0) continue;
      value[cell] = me;
      assert(value[cell] == me);
      give(cell);
    }
  });
}
