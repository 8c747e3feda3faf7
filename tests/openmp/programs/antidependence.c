// SPDX-License-Identifier: Apache-2.0
//
// a[i] = a[i + 1] + 1 in place: an element is read by one thread and written by another; or into a second array.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[65], next[65];

int main(void) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 64; i++)
#ifdef WRONG
    values[i] = values[i + 1] + 1;
#else
    next[i] = values[i + 1] + 1;
#endif
  return next[0] + values[0] < 0;
}
