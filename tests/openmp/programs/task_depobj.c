// SPDX-License-Identifier: Apache-2.0
//
// A dependence that is kept in an object orders two tasks; without it the second one is free.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value;
static int arrived;

int main(void) {
  omp_depend_t kept;
#pragma omp depobj(kept) depend(inout : value)
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(depobj : kept)
    {
#ifdef WRONG
      meet(&arrived);
#endif
      value = 7;
    }
#ifdef WRONG
#pragma omp task
    {
      meet(&arrived);
      value++;
    }
#else
#pragma omp task depend(depobj : kept)
    value++;
#endif
  }
#pragma omp depobj(kept) destroy
  return value < arrived;
}
