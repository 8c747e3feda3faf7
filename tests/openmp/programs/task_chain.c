// SPDX-License-Identifier: Apache-2.0
//
// Tasks in a row by depend(inout); or each with a variable of its own to depend on.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, links[4];
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 4; i++) {
#ifdef WRONG
#pragma omp task depend(inout : links[i])
    {
      if (i < 2) meet(&arrived);
      value++;
    }
#else
#pragma omp task depend(inout : links[0])
    value++;
#endif
  }
  return value + links[0] < 0;
}
