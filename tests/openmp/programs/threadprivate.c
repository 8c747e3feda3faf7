// SPDX-License-Identifier: Apache-2.0
//
// A global with a copy in each thread, and copyin; or without.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;
#ifndef WRONG
#pragma omp threadprivate(counter)
#endif

int main(void) {
  counter = 3;
#ifdef WRONG
#pragma omp parallel num_threads(2)
#else
#pragma omp parallel num_threads(2) copyin(counter)
#endif
  counter++;
  return counter < 4;
}
