// SPDX-License-Identifier: Apache-2.0
//
// A value is published by an atomic flag with release and acquire, or with relaxed order.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, flag, seen;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      value = 7;
#ifdef WRONG
#pragma omp atomic write relaxed
#else
#pragma omp atomic write release
#endif
      flag = 1;
    } else {
      int ready = 0;
      while (!ready) {
#ifdef WRONG
#pragma omp atomic read relaxed
#else
#pragma omp atomic read acquire
#endif
        ready = flag;
        sched_yield();
      }
      seen = value;
    }
  }
  return seen != 7;
}
