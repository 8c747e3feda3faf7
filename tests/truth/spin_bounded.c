// SPDX-License-Identifier: Apache-2.0
//
// A waiter looks at a plain hint a few times before it blocks properly; the result is only read under the lock.
//
// truth: hint harmless: it only decides how long the thread polls; after the loop the condition is waited for under the mutex
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int hint;
static int done, result;

static void* worker(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  result = 5;
  done = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  hint = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  int seen;
  pthread_create(&thread, 0, worker, 0);
  for (int i = 0; i < 10 && !hint; ++i) {
  }
  pthread_mutex_lock(&mutex);
  while (!done) pthread_cond_wait(&changed, &mutex);
  seen = result;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  return seen == 5 ? 0 : 1;
}
