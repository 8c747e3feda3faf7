// SPDX-License-Identifier: Apache-2.0
//
// A lock that its owner takes twice; the wrong half touches the counter after the last release.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;

int main(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
#ifndef WRONG
    counter++;
#endif
    omp_unset_nest_lock(&lock);
#ifdef WRONG
    counter++;
#endif
  }
  omp_destroy_nest_lock(&lock);
  return counter < 0;
}
