// SPDX-License-Identifier: Apache-2.0
//
// A table of two slots is copied into a larger one slot by slot while others write: a write to a slot that
// was copied already is lost.
//
// BUG resize: -DWRITERS=1
// BUG resize_3: -DWRITERS=3
#include "../programs/parallel.h"

static std::atomic<int> old_table[4], new_table[8], moved;

static void add(int slot) {
  if (moved)
    ++new_table[slot];
  else
    ++old_table[slot];
}

int main() {
  in_parallel_each(WRITERS + 1, [](int me) {
    if (me < WRITERS) {
      add(me);
      add(3 - me);
      return;
    }
    for (int slot = 0; slot < 4; ++slot) new_table[slot] += old_table[slot];
    moved = 1;
  });
  int sum = 0;
  for (std::atomic<int>& value : new_table) sum += value;
  assert(sum == 2 * WRITERS);
}
