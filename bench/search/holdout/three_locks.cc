// SPDX-License-Identifier: Apache-2.0
//
// Each of three threads takes two of three locks, in a circle; before, it does some work with its first one.
//
// BUG three_locks: -DWORK=0
// BUG three_locks_work: -DWORK=6
// CORRECT three_locks_ordered: -DWORK=2 -DORDERED
#include "../programs/parallel.h"

static std::mutex locks[3];
static int done[3];

int main() {
  in_parallel_each(3, [](int me) {
    int first = me, second = (me + 1) % 3;
#ifdef ORDERED
    if (first > second) std::swap(first, second);
#endif
    for (int i = 0; i < WORK; ++i) {
      Guard guard(locks[first]);
      ++done[first];
    }
    Guard outer(locks[first]);
    Guard inner(locks[second]);
    ++done[second];
  });
}
