// SPDX-License-Identifier: Apache-2.0
//
// Two threads exchange values through a slot: the first puts its own in, the second takes it and leaves its
// own, the first empties the slot. If it gives up after a while without an exclusive operation, a partner
// that came in between has taken a value that the first one keeps.
//
// BUG exchanger_3: -DTHREADS=3 -DGIVES_UP
// CORRECT exchanger: -DTHREADS=2
#include "../programs/parallel.h"

static constexpr int kEmpty = 0, kDone = 100;
static std::atomic<int> slot, taken[THREADS + 1];

/// The partner's value, or its own if nobody came.
static int exchange(int mine) {
  int seen = kEmpty;
  if (slot.compare_exchange_strong(seen, mine)) {
    for (int tries = 0; tries < 3; ++tries) {
      int other = slot;
      if (other > kDone) {
        slot = kEmpty;
        return other - kDone;
      }
    }
#ifdef GIVES_UP
    slot = kEmpty;
    return mine;
#else
    int expected = mine;
    if (slot.compare_exchange_strong(expected, kEmpty)) return mine;
    slot = kEmpty;
    return expected - kDone;
#endif
  }
  if (seen < kDone && slot.compare_exchange_strong(seen, mine + kDone)) return seen;
  return mine;
}

int main() {
  in_parallel_each(THREADS, [](int me) { ++taken[exchange(me + 1)]; });
  for (int value = 1; value <= THREADS; ++value) assert(taken[value] == 1);
}
