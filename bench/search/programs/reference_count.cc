// SPDX-License-Identifier: Apache-2.0
//
// The last user gives the object back: the count is tested after it was lowered; a new reference is taken
// when the last is gone; or both in one step.
//
// BUG count_tested_late: -DTESTED_LATE
// BUG count_revived: -DREVIVED
// CORRECT count_right: -DRIGHT
#include "parallel.h"

static std::atomic<int> count{2}, freed;

static void drop() {
#ifdef TESTED_LATE
  --count;
  if (count == 0) ++freed;
#else
  if (--count == 0) ++freed;
#endif
}

static void borrow() {
  if (count == 0) return;
#ifdef REVIVED
  ++count;
#else
  int seen = count;
  do {
    if (seen == 0) return;
  } while (!count.compare_exchange_weak(seen, seen + 1));
#endif
  assert(freed == 0);
  drop();
}

int main() {
#ifdef TESTED_LATE
  in_parallel(drop, drop);
#else
  in_parallel(drop, drop, borrow);
#endif
  assert(freed == 1);
}
