// SPDX-License-Identifier: Apache-2.0
//
// inoutset: two writers of different halves side by side, then one reader of both; or two of the same half.
//
// WRONG: parts*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int parts[16], sum;
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 2; i++) {
#pragma omp task depend(inoutset : parts)
      {
        meet(&arrived);
#ifdef WRONG
        parts[0] = i;
#else
        parts[8 * i] = i;
#endif
      }
    }
#pragma omp task depend(in : parts)
    sum = parts[0] + parts[8];
  }
  return sum < 0;
}
