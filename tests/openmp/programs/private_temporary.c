// SPDX-License-Identifier: Apache-2.0
//
// A temporary of each thread, or one that all share.
//
// WRONG: temporary|*temporary
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64];

int main(void) {
  int temporary = 0;
#ifdef WRONG
#pragma omp parallel for num_threads(2)
#else
#pragma omp parallel for num_threads(2) firstprivate(temporary)
#endif
  for (int i = 0; i < 64; i++) {
    temporary = i;
    values[i] = temporary;
  }
  return values[63] < 0;
}
