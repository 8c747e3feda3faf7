// SPDX-License-Identifier: Apache-2.0
//
// A loop that waits for the round before it, or for none.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[17];

int main(void) {
#pragma omp parallel for ordered(1) num_threads(2) schedule(static, 1)
  for (int i = 1; i < 17; i++) {
#ifdef WRONG
#pragma omp ordered depend(sink : i - 2)
#else
#pragma omp ordered depend(sink : i - 1)
#endif
    values[i] = values[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  return values[16] < 0;
}
