// SPDX-License-Identifier: Apache-2.0
//
// Looks for a key with the lock held, lets go of it to make the entry, and inserts it without a second look:
// it is there twice if another thread did the same between.
//
// BUG upgrade: -DKEYS=2
// BUG upgrade_many: -DKEYS=5
// CORRECT upgrade_checked: -DKEYS=3 -DCHECKED
#include "../programs/parallel.h"

static std::mutex mutex;
static int entries[8];

int main() {
  in_parallel_each(2, [](int me) {
    for (int i = 0; i < KEYS; ++i) {
      int key = me == 0 ? i : KEYS - 1 - i;
      {
        Guard guard(mutex);
        if (entries[key] != 0) continue;
      }
      Guard guard(mutex);
#ifdef CHECKED
      if (entries[key] != 0) continue;
#endif
      ++entries[key];
    }
  });
  for (int count : entries) assert(count < 2);
}
