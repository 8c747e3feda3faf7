// SPDX-License-Identifier: Apache-2.0
//
// Writers set two variables under two locks, one after the other; a reader comes between the stages of the
// first writer, before any other has come to the second.
//
// BUG two_stage_1: -DWRITERS=1
// BUG two_stage_20: -DWRITERS=20
// BUG two_stage_99: -DWRITERS=99
// CORRECT two_stage_fixed: -DWRITERS=4 -DFIXED
#include "parallel.h"

static std::mutex first, second;
static int data1, data2;

static void writer() {
#ifdef FIXED
  Guard both(first);
  data1 = 1;
#else
  {
    Guard guard(first);
    data1 = 1;
  }
#endif
  Guard guard(second);
  data2 = 2;
}

static void reader() {
  {
    Guard guard(first);
    if (data1 == 0) return;
  }
  Guard guard(second);
  assert(data2 == 2);
}

int main() {
  in_parallel_each(WRITERS + 1, [](int i) { i < WRITERS ? writer() : reader(); });
}
