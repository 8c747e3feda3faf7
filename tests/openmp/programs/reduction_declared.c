// SPDX-License-Identifier: Apache-2.0
//
// A reduction that the program declares, over a structure.
//
// WRONG: total*|Pair*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

typedef struct {
  long low, high;
} Pair;

static Pair total;

#pragma omp declare reduction(both:Pair : omp_out.low += omp_in.low, omp_out.high += omp_in.high) \
    initializer(omp_priv = {0, 0})

int main(void) {
#ifdef WRONG
#pragma omp parallel for num_threads(2)
#else
#pragma omp parallel for num_threads(2) reduction(both : total)
#endif
  for (int i = 0; i < 100; i++) {
    total.low += i;
    total.high += i;
  }
  return total.low < 0;
}
