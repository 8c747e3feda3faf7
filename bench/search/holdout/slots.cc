// SPDX-License-Identifier: Apache-2.0
//
// A queue of slots with numbers: producers claim the next slot, write, and mark it full. If the claim is a
// load and a store, two producers write to one slot.
//
// BUG slots_2: -DPRODUCERS=2
// BUG slots_4: -DPRODUCERS=4
// CORRECT slots_claimed: -DPRODUCERS=3 -DCLAIMED
#include "../programs/parallel.h"

static std::atomic<int> tail, slot[PRODUCERS];

int main() {
  in_parallel_each(PRODUCERS, [](int me) {
#ifdef CLAIMED
    int mine = tail.fetch_add(1);
#else
    int mine = tail;
    tail = mine + 1;
#endif
    slot[mine] = me + 1;
  });
  int sum = 0;
  for (std::atomic<int>& value : slot) sum += value;
  assert(sum == PRODUCERS * (PRODUCERS + 1) / 2);
}
