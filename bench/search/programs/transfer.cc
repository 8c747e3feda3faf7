// SPDX-License-Identifier: Apache-2.0
//
// Transfers lock the account that pays, then the one that gets: a cycle of three.
//
// BUG transfer_cycle: -DROUNDS=1
// BUG transfer_rare: -DROUNDS=6
// CORRECT transfer_together: -DROUNDS=2 -DTOGETHER
#include "parallel.h"

static std::mutex locks[3];
static int balance[3] = {9, 9, 9};

static void pay(int from, int to) {
#ifdef TOGETHER
  std::scoped_lock both(locks[from], locks[to]);
#else
  Guard one(locks[from]);
  Guard two(locks[to]);
#endif
  --balance[from];
  ++balance[to];
}

int main() {
  in_parallel_each(3, [](int me) {
    // All but the last go in one order.
    for (int i = 1; i < ROUNDS; ++i) pay(me / 2, 2);
    pay(me, (me + 1) % 3);
  });
}
