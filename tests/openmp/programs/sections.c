// SPDX-License-Identifier: Apache-2.0
//
// Sections that write what is theirs, or both the same.
//
// WRONG: second
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int first, second;
static int arrived;

int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#ifdef WRONG
      meet(&arrived);
      second = 1;
#else
      first = 1;
#endif
    }
#pragma omp section
    {
#ifdef WRONG
      meet(&arrived);
#endif
      second = 2;
    }
  }
  return first + second < 2;
}
