// SPDX-License-Identifier: Apache-2.0
//
// An untied task that yields; the wrong half touches what its parent writes.
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
#pragma omp task untied
    {
#ifdef WRONG
      meet(&arrived);
#endif
      value = 1;
#pragma omp taskyield
      value = 2;
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
