// SPDX-License-Identifier: Apache-2.0
//
// The flag of a condition is set without the mutex, beside a counter of signals.
//
// truth: ready destructive deadlock: set between the waiter's test and its wait, and the signal is gone
// truth: signals harmless beside ready: a statistic that nothing reads
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static int signals;

static void* waiter(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  signals++;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waiter, 0);
  ready = 1;
  signals++;
  pthread_cond_signal(&changed);
  pthread_join(thread, 0);
  return 0;
}
