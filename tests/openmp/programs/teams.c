// SPDX-License-Identifier: Apache-2.0
//
// teams on the host: each team has its own part.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64];

int main(void) {
#pragma omp teams num_teams(2) thread_limit(2)
  {
#ifdef WRONG
#pragma omp parallel num_threads(2)
    values[0] = omp_get_thread_num();
#else
#pragma omp distribute parallel for
    for (int i = 0; i < 64; i++) values[i] = i;
#endif
  }
  return values[63] < 0;
}
