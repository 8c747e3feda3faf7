// SPDX-License-Identifier: Apache-2.0
//
// Tasks and their children have ended at the end of the group; taskwait waits for children only.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen;
static int arrived;

static void grandchild(void) {
#pragma omp task
  {
#ifdef WRONG
    meet(&arrived);
#endif
    value = 7;
  }
}

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp masked
  {
#ifdef WRONG
#pragma omp task if (0)
    grandchild();
#pragma omp taskwait
    meet(&arrived);
#else
#pragma omp taskgroup
#pragma omp task
    grandchild();
#endif
    seen = value;
  }
  return seen < 0;
}
