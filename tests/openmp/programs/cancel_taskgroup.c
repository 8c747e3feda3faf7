// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a group that ends early by cancel: what they wrote is read after the group, or before its end.
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
#pragma omp taskgroup
    {
#pragma omp task
      {
#ifdef WRONG
        meet(&arrived);
#endif
        value = 7;
#pragma omp cancel taskgroup
      }
#ifdef WRONG
      meet(&arrived);
      value++;
#endif
    }
    value++;
  }
  return value < 0;
}
