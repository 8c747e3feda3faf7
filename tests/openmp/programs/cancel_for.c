// SPDX-License-Identifier: Apache-2.0
//
// A search that ends by cancel: the answer is written under critical, or not.
//
// WRONG: found
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64];
static int found = -1;

int main(void) {
  for (int i = 0; i < 64; i++) values[i] = i % 32;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) {
      if (values[i] == 7) {
#ifndef WRONG
#pragma omp critical
#endif
        found = i;
#ifndef WRONG
#pragma omp cancel for
#endif
      }
    }
  }
  return found < 0;
}
