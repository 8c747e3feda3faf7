// SPDX-License-Identifier: Apache-2.0
//
// taskwait with depend waits for the writer of one variable; without, of the wrong one.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, other;
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : value)
    {
#ifdef WRONG
      arrive(&arrived);
#endif
      value = 7;
    }
#pragma omp task depend(out : other)
    other = 1;
#ifdef WRONG
#pragma omp taskwait depend(in : other)
    wait_for(&arrived);
#else
#pragma omp taskwait depend(in : value)
#endif
    value++;
  }
  return value < 0;
}
