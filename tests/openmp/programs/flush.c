// SPDX-License-Identifier: Apache-2.0
//
// A value is published by a flush and an atomic flag, or by the flag alone.
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
#ifndef WRONG
#pragma omp flush
#endif
#pragma omp atomic write relaxed
      flag = 1;
    } else {
      int ready = 0;
      while (!ready) {
#pragma omp atomic read relaxed
        ready = flag;
        sched_yield();
      }
#ifndef WRONG
#pragma omp flush
#endif
      seen = value;
    }
  }
  return seen != 7;
}
