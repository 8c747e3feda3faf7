// SPDX-License-Identifier: Apache-2.0
//
// A reduction in a region within a region; the inner sum goes to the outer one under atomic, or not.
//
// WRONG: total|*total|stack of T0
#include <omp.h>
#include <stdio.h>

#include "meet.h"

int main(void) {
  int total = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 8; i++) sum += i;
#ifndef WRONG
#pragma omp atomic
#endif
    total += sum;
  }
  return total < 0;
}
