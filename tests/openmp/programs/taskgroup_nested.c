// SPDX-License-Identifier: Apache-2.0
//
// A group within a group: the outer one waits for grandchildren, taskwait for children only.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value;
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
#pragma omp single
  {
#ifdef WRONG
#pragma omp task if (0)  // so that the thread does not take the grandchild while it waits for the child
    grandchild();
#pragma omp taskwait
    meet(&arrived);
#else
#pragma omp taskgroup
    {
#pragma omp task
#pragma omp taskgroup
      grandchild();
    }
#endif
    value++;
  }
  return value < 0;
}
