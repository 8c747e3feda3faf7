// SPDX-License-Identifier: Apache-2.0
//
// A task that depends on all memory follows every earlier task with a dependence; one that names another variable
// does not.
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
      meet(&arrived);
#endif
      value = 7;
    }
#ifdef WRONG
#pragma omp task depend(inout : other)
    {
      meet(&arrived);
      value++;
    }
#else
#pragma omp task depend(inout : omp_all_memory)
    value++;
#endif
#pragma omp task depend(in : other)
    other += 0;
  }
  return value + other < arrived;
}
