// SPDX-License-Identifier: Apache-2.0
//
// The last value of a loop: by lastprivate, or by writing the shared variable.
//
// WRONG: last|*last
#include <omp.h>
#include <stdio.h>

#include "meet.h"

int main(void) {
  int last = 0;
#ifdef WRONG
#pragma omp parallel for num_threads(2)
#else
#pragma omp parallel for num_threads(2) lastprivate(last)
#endif
  for (int i = 0; i < 64; i++) last = i;
  return last < 0;
}
