// SPDX-License-Identifier: Apache-2.0
//
// A ring for one producer, used by two: the place is read, filled, and then counted. Or the place is claimed
// first, and a consumer reads it before it is filled.
//
// BUG ring_two_producers: -DCOUNTED_LAST
// BUG ring_claimed_first: -DCLAIMED_FIRST
// CORRECT ring_one_producer: -DCOUNTED_LAST -DONE_PRODUCER
#include "parallel.h"

static std::atomic<int> places[4];
static std::atomic<int> end;

static void produce() {
#ifdef CLAIMED_FIRST
  places[end++] = 1;
#else
  int place = end;
  places[place] = 1;
  end = place + 1;
#endif
}

static void consume() {
  int filled = end;
  for (int i = 0; i < filled; ++i) assert(places[i] == 1);
}

int main() {
#ifdef ONE_PRODUCER
  in_parallel([] { produce(), produce(); }, consume);
  assert(end == 2);
#else
  in_parallel(produce, produce, consume);
  assert(end == 2);
#endif
}
