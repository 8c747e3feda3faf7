// SPDX-License-Identifier: Apache-2.0
//
// A task writes, its parent reads after taskwait, or without.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen;
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
#ifdef WRONG
      meet(&arrived);
#endif
      value = 7;
    }
#ifdef WRONG
    meet(&arrived);
#else
#pragma omp taskwait
#endif
    seen = value;
  }
  return seen < 0;
}
