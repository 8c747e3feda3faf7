// SPDX-License-Identifier: Apache-2.0
//
// A counter, updated atomically or not.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#ifndef WRONG
#pragma omp atomic
#endif
    counter++;
  }
  return counter < 0;
}
