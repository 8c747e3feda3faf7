// SPDX-License-Identifier: Apache-2.0
//
// The value that one thread reads is copied to all; the wrong half shares it without waiting.
//
// WRONG: value
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int value, seen[2];

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int own = 0;
#ifdef WRONG
    if (omp_get_thread_num() == 1) value = 7;
    own = value;
#else
#pragma omp single copyprivate(own)
    own = 7;
#endif
    seen[omp_get_thread_num()] = own;
  }
  return seen[1] != 7;
}
