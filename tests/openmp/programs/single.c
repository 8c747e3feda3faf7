// SPDX-License-Identifier: Apache-2.0
//
// One thread writes, all read after the end of the single; with nowait they do not wait.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen[2];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
    if (omp_get_thread_num() == 0) value = 7;
#else
#pragma omp single
    value = 7;
#endif
    seen[omp_get_thread_num()] = value;
  }
  return seen[0] != 7;
}
