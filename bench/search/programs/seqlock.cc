// SPDX-License-Identifier: Apache-2.0
//
// A version number, odd while the data changes: the reader does not look at it again, or takes an odd one; or
// does both.
//
// BUG seqlock_one_look: -DONE_LOOK
// BUG seqlock_odd: -DODD
// CORRECT seqlock_right: -DRIGHT
#include "parallel.h"

static std::atomic<int> version, one, two;

static void writer() {
  for (int i = 1; i <= 2; ++i) {
    ++version;
    one = i;
    two = i;
    ++version;
  }
}

static void reader() {
  for (;;) {
    int before = version;
#ifndef ODD
    if (before % 2 != 0) continue;
#endif
    int first = one, second = two;
#ifndef ONE_LOOK
    if (version != before) continue;
#endif
    assert(first == second);
    return;
  }
}

int main() {
  in_parallel(writer, reader);
}
