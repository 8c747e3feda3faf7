// SPDX-License-Identifier: Apache-2.0
//
// Dependences order tasks of one parent only.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value;
static int arrived;

static void writes(int by) {
#pragma omp task depend(inout : value) shared(value)
  {
#ifdef WRONG
    meet(&arrived);
#endif
    value += by;
  }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel num_threads(2)
#ifdef WRONG
  writes(1);
#else
#pragma omp single
  {
    writes(1);
    writes(2);
  }
#endif
  return value != (arrived ? value : 3);
}
