// SPDX-License-Identifier: Apache-2.0
//
// A task that depends on all elements by an iterator follows all their writers; one that names the first element only
// does not.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[2];
static int arrived;

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : values[0])
    values[0] = 1;
#pragma omp task depend(out : values[1])
    {
#ifdef WRONG
      meet(&arrived);
#endif
      values[1] = 2;
    }
#ifdef WRONG
#pragma omp task shared(sum) depend(in : values[0])
    {
      meet(&arrived);
      sum = values[0] + values[1];
    }
#else
#pragma omp task shared(sum) depend(iterator(k = 0 : 2), in : values[k])
    sum = values[0] + values[1];
#endif
  }
  return sum < 0;
}
