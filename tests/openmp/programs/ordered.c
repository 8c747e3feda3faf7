// SPDX-License-Identifier: Apache-2.0
//
// A sum in the order of the loop: in an ordered region, or outside of it.
//
// WRONG: sum
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int sum;

int main(void) {
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (int i = 0; i < 16; i++) {
#ifndef WRONG
#pragma omp ordered
#endif
    sum += i;
#ifdef WRONG
#pragma omp ordered
    ;
#endif
  }
  return sum < 0;
}
