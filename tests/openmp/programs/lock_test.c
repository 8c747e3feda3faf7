// SPDX-License-Identifier: Apache-2.0
//
// A lock that is tried until it is taken; the wrong half goes on without it.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
    counter++;
#else
    while (!omp_test_lock(&lock)) sched_yield();
    counter++;
    omp_unset_lock(&lock);
#endif
  }
  omp_destroy_lock(&lock);
  return counter < 0;
}
