// SPDX-License-Identifier: Apache-2.0
//
// A counter under a lock, or with the lock of another one.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;

int main(void) {
  omp_lock_t locks[2];
  omp_init_lock(&locks[0]);
  omp_init_lock(&locks[1]);
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
    omp_lock_t* lock = &locks[omp_get_thread_num()];
#else
    omp_lock_t* lock = &locks[0];
#endif
    omp_set_lock(lock);
    counter++;
    omp_unset_lock(lock);
  }
  omp_destroy_lock(&locks[0]);
  omp_destroy_lock(&locks[1]);
  return counter < 0;
}
