// SPDX-License-Identifier: Apache-2.0
//
// Writes through an array of indices, which are all different or not.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], where[64];

int main(void) {
  for (int i = 0; i < 64; i++)
#ifdef WRONG
    where[i] = i % 32;
#else
    where[i] = 63 - i;
#endif
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 64; i++) values[where[i]] = i;
  return values[0] < 0;
}
