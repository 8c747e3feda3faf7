// SPDX-License-Identifier: Apache-2.0
//
// A home-made barrier: arrivals are counted under a mutex, but waited for without it.
//
// truth: arrived destructive no-end|livelock|exit:1: the loop may read it once for all, and a read without the lock acquires nothing
// truth: cells[] destructive exit:1: the other cell was written before the mutex was released, but the reader never took it afterwards
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived;
static int cells[2];
static int sums[2];

static void* run(void* argument) {
  long self = (long)argument;
  cells[self] = 10;
  pthread_mutex_lock(&mutex);
  arrived++;
  pthread_mutex_unlock(&mutex);
  while (arrived < 2) {
  }
  sums[self] = cells[self] + cells[1 - self];
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return sums[0] == 20 && sums[1] == 20 ? 0 : 1;
}
