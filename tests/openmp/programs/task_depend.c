// SPDX-License-Identifier: Apache-2.0
//
// Two tasks with a dependence on a variable, or without.
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
#ifdef WRONG
#pragma omp task
    {
      meet(&arrived);
      value = 7;
    }
#pragma omp task
    {
      meet(&arrived);
      seen = value;
    }
#else
#pragma omp task depend(out : value)
    value = 7;
#pragma omp task depend(in : value)
    seen = value;
#pragma omp task depend(in : value)
    arrived = value;
#pragma omp task depend(inout : value)
    value++;
#endif
  }
  return seen < 0;
}
