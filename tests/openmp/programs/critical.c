// SPDX-License-Identifier: Apache-2.0
//
// A counter under a critical section, or under none.
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
#pragma omp critical
#endif
    counter++;
  }
  return counter < 0;
}
