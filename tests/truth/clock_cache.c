// SPDX-License-Identifier: Apache-2.0
//
// A ticker writes the time for others, who need no better precision than a tick.
//
// truth: cached_time harmless: every stored value is a time of this run
#include <pthread.h>

static long cached_time = 1000;
static int stamped[2];

static void* tick(void* unused) {
  (void)unused;
  for (int i = 0; i < 4; ++i) cached_time = 1001 + i;
  return 0;
}

static void* log_lines(void* argument) {
  long self = (long)argument;
  stamped[self] = 1;
  for (int i = 0; i < 3; ++i) {
    long stamp = cached_time;
    if (stamp < 1000 || stamp > 1004) stamped[self] = 0;
  }
  return 0;
}

int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, tick, 0);
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i + 1], 0, log_lines, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return stamped[0] && stamped[1] ? 0 : 1;
}
