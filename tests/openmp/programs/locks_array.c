// SPDX-License-Identifier: Apache-2.0
//
// A lock for each bucket of a histogram; or one lock for half of the threads only.
//
// WRONG: buckets*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int buckets[4];
static omp_lock_t locks[4];

int main(void) {
  for (int i = 0; i < 4; i++) omp_init_lock(&locks[i]);
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 64; i++) {
#ifdef WRONG
    omp_lock_t* lock = &locks[omp_get_thread_num()];
#else
    omp_lock_t* lock = &locks[i % 4];
#endif
    omp_set_lock(lock);
    buckets[i % 4]++;
    omp_unset_lock(lock);
  }
  for (int i = 0; i < 4; i++) omp_destroy_lock(&locks[i]);
  return buckets[0] < 0;
}
