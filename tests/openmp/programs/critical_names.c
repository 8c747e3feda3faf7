// SPDX-License-Identifier: Apache-2.0
//
// Two critical sections with one name exclude each other, with two names they do not.
//
// WRONG: counter
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int counter;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      counter++;
    } else {
#ifdef WRONG
#pragma omp critical(two)
#else
#pragma omp critical(one)
#endif
      counter++;
    }
  }
  return counter < 0;
}
