// SPDX-License-Identifier: Apache-2.0
//
// All tasks of a team have ended behind a barrier.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen[2];
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp masked
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
      value = 8;
#endif
    }
#pragma omp barrier
    seen[omp_get_thread_num()] = value;
  }
  return seen[0] < 7;
}
