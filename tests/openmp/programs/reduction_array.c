// SPDX-License-Identifier: Apache-2.0
//
// A histogram: each thread has its own, or all share one.
//
// WRONG: histogram*|*histogram*|stack*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

int main(void) {
  int histogram[4] = {0};
#ifdef WRONG
#pragma omp parallel for num_threads(2)
#else
#pragma omp parallel for num_threads(2) reduction(+ : histogram[ : 4])
#endif
  for (int i = 0; i < 64; i++) histogram[i % 4]++;
  return histogram[0] < 0;
}
