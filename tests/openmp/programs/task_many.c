// SPDX-License-Identifier: Apache-2.0
//
// Many small tasks, a tree of them; the wrong half counts them without an atomic.
//
// WRONG: leaves
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int leaves;
static int arrived;

static void tree(int depth) {
  if (depth == 0) {
#ifdef WRONG
    meet(&arrived);
#else
#pragma omp atomic
#endif
    leaves++;
    return;
  }
#pragma omp task
  tree(depth - 1);
#pragma omp task
  tree(depth - 1);
#pragma omp taskwait
}

int main(void) {
#ifdef WRONG
  int depth = 1;
#else
  int depth = 4;
#endif
#pragma omp parallel num_threads(2)
#pragma omp single
  tree(depth);
  return leaves < 1;
}
