// SPDX-License-Identifier: Apache-2.0
//
// Places in a buffer are given out by an atomic capture; the wrong half writes one place twice.
//
// WRONG: buffer*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int buffer[16], next;

int main(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 4; i++) {
    int at;
#pragma omp atomic capture
    at = next++;
#ifdef WRONG
    at = i;
#endif
    buffer[at] = i;
  }
  return buffer[0] < 0;
}
