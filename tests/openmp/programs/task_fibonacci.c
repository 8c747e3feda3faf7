// SPDX-License-Identifier: Apache-2.0
//
// Fibonacci numbers by tasks: both parts are waited for; or one is added before it is there.
//
// WRONG: left|*::left
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int arrived;

static int fibonacci(int n) {
  if (n < 2) return n;
  int left = 0, right = 0;
#pragma omp task shared(left)
  {
#ifdef WRONG
    meet(&arrived);
#endif
    left = fibonacci(n - 1);
  }
#ifdef WRONG
  meet(&arrived);
  right = left;
#else
  right = fibonacci(n - 2);
#endif
#pragma omp taskwait
  return left + right;
}

int main(void) {
  int result = 0;
#ifdef WRONG
  int n = 2;
#else
  int n = 6;
#endif
#pragma omp parallel num_threads(2)
#pragma omp single
  result = fibonacci(n);
  return result < 0;
}
