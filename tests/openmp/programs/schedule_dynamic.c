// SPDX-License-Identifier: Apache-2.0
//
// Dynamic schedule: each round has its own element, or all write the last one.
//
// WRONG: last
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], last;
static int arrived;

int main(void) {
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    values[i] = i;
#ifdef WRONG
    if (i < 2) meet(&arrived);
    if (i < 2) last = i;
#endif
  }
  return values[63] != 63;
}
