// SPDX-License-Identifier: Apache-2.0
//
// Neighbours in one cache line, and bits of one word.
//
// WRONG: flags*|Flags::*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static struct Flags {
  unsigned char bytes[2];
  unsigned low : 4, high : 4;
} flags;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
#ifdef WRONG
    if (me)
      flags.low = 1;
    else
      flags.high = 1;
#else
    flags.bytes[me] = 1;
#endif
  }
  return flags.low > 1;
}
