// SPDX-License-Identifier: Apache-2.0
//
// parallel for simd over two arrays; the wrong half reads across the parts.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static float values[257], results[256];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
#pragma omp for simd schedule(static) nowait
#else
#pragma omp for simd schedule(static)
#endif
    for (int i = 0; i < 257; i++) values[i] = i;
#pragma omp for simd schedule(static)
    for (int i = 0; i < 256; i++) results[i] = values[256 - i];
  }
  return results[0] != 256;
}
