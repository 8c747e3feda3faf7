// SPDX-License-Identifier: Apache-2.0
//
// Quicksort by tasks: the parts are disjoint; or they share the pivot's element.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[32];
static int arrived;

static void sort(int* first, int count) {
  if (count < 2) return;
  int middle = 0;
  for (int i = 1; i < count; i++) {
    if (first[i] >= first[0]) continue;
    int value = first[i];
    first[i] = first[++middle];
    first[middle] = value;
  }
  int value = first[0];
  first[0] = first[middle];
  first[middle] = value;
#ifdef WRONG
#pragma omp task
  {
    meet(&arrived);
    first[middle]++;
  }
  meet(&arrived);
  first[middle]++;
#else
#pragma omp task
  sort(first, middle);
  sort(first + middle + 1, count - middle - 1);
#endif
#pragma omp taskwait
}

int main(void) {
  for (int i = 0; i < 32; i++) values[i] = i * 7 % 32;
#pragma omp parallel num_threads(2)
#pragma omp single
  sort(values, 32);
  return values[0] < 0;
}
