// SPDX-License-Identifier: Apache-2.0
//
// Output in the order of the loop, from an ordered region; or before it.
//
// WRONG: count
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int count, order[8];

int main(void) {
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#ifdef WRONG
    order[i] = count++;
#endif
#pragma omp ordered
    {
#ifndef WRONG
      order[count++] = i;
#endif
    }
  }
  return order[7] < 0;
}
