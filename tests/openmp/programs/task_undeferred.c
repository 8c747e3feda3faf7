// SPDX-License-Identifier: Apache-2.0
//
// A task that runs at once (if(0)) is done before what follows; a deferred one is not.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value;
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
    meet(&arrived);
#else
#pragma omp task if (0)
    value = 7;
#endif
    value++;
  }
  return value < 0;
}
