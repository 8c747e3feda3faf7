// SPDX-License-Identifier: Apache-2.0
//
// A loop whose rounds touch their own element, or the next one too.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[65];

int main(void) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 64; i++) {
#ifdef WRONG
    values[i] = values[i + 1] + 1;
#else
    values[i] = values[i] + 1;
#endif
  }
  return values[0] != 1;
}
