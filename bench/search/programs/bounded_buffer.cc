// SPDX-License-Identifier: Apache-2.0
//
// Producers and consumers of a buffer with one place and one condition: a signal that wakes one of the same
// kind is lost.
//
// BUG buffer_2: -DPAIRS=2 -DWAKE=notify_one
// BUG buffer_3: -DPAIRS=3 -DWAKE=notify_one
// CORRECT buffer_all: -DPAIRS=2 -DWAKE=notify_all
#include "parallel.h"

static std::mutex mutex;
static std::condition_variable changed;
static int filled;

static void change(int from, int to) {
  std::unique_lock lock(mutex);
  while (filled != from) changed.wait(lock);
  filled = to;
  changed.WAKE();
}

int main() {
  in_parallel_each(2 * PAIRS, [](int i) {
    bool produces = i % 2 != 0;
    for (int round = 0; round < 2; ++round) change(produces ? 0 : 1, produces ? 1 : 0);
  });
}
