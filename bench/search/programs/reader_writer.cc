// SPDX-License-Identifier: Apache-2.0
//
// A lock for many readers or one writer, made of two counters: a writer looks for readers before it announces
// itself.
//
// BUG writers_late: -DLATE
// CORRECT writers_first: -DFIRST
#include "parallel.h"

static std::atomic<int> readers, writers, value1, value2;

static void reader() {
  for (;;) {
    ++readers;
    if (writers == 0) break;
    --readers;
    std::this_thread::yield();
  }
  int one = value1;
  assert(one == value2);
  --readers;
}

static void writer() {
#ifdef LATE
  while (readers != 0) std::this_thread::yield();
  writers = 1;
#else
  writers = 1;
  while (readers != 0) std::this_thread::yield();
#endif
  ++value1;
  ++value2;
  writers = 0;
}

int main() {
  in_parallel(reader, reader, writer);
}
