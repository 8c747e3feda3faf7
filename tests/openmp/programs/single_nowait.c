// SPDX-License-Identifier: Apache-2.0
//
// What a single region writes is read after its barrier; with nowait there is none.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen[2];

#ifdef WRONG
#define NOWAIT nowait
#else
#define NOWAIT
#endif

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp single NOWAIT
    value = 7;
    seen[omp_get_thread_num()] = value;
  }
  return seen[0] < 0;
}
