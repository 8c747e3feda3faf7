// SPDX-License-Identifier: Apache-2.0
//
// masked has no barrier at its end: one must follow.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen[2];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp masked
    value = 7;
#ifndef WRONG
#pragma omp barrier
#endif
    seen[omp_get_thread_num()] = value;
  }
  return seen[0] != 7;
}
