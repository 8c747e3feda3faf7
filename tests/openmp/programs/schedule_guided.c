// SPDX-License-Identifier: Apache-2.0
//
// A loop with guided chunks: elements of its own, or a shared last one.
//
// WRONG: last
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[256];
static int last;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(guided, 4)
    for (int i = 0; i < 256; i++) values[i] = i;
#ifdef WRONG
    last = values[255];
#else
#pragma omp single
    last = values[255];
#endif
  }
  return last < 0;
}
