// SPDX-License-Identifier: Apache-2.0
//
// Every thread switches a debug flag off that was off already.
//
// truth: debug same-value: every store writes the 0 that is there
#include <pthread.h>

static int debug;
static int sums[2];

static void* run(void* argument) {
  long self = (long)argument;
  debug = 0;
  for (int i = 0; i < 3; ++i) {
    sums[self] += i;
    if (debug) sums[self] = -1;
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return sums[0] == 3 && sums[1] == 3 ? 0 : 1;
}
