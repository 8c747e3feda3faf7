// SPDX-License-Identifier: Apache-2.0
//
// threadprivate values that start as the master's, by copyin; or a shared one.
//
// WRONG: seed
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int seed;
#ifndef WRONG
#pragma omp threadprivate(seed)
#define COPYIN copyin(seed)
#else
#define COPYIN
#endif

int main(void) {
  seed = 5;
  int sum = 0;
#pragma omp parallel num_threads(2) COPYIN reduction(+ : sum)
  {
    seed += omp_get_thread_num();
    sum += seed;
  }
  return sum < 0;
}
