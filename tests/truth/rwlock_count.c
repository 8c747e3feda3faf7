// SPDX-License-Identifier: Apache-2.0
//
// Readers under a read lock count exactly.
//
// truth: uses destructive exit:1: a read lock does not exclude other readers; increments are lost
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int uses;

static void* use(void* unused) {
  (void)unused;
  pthread_rwlock_rdlock(&lock);
  uses++;
  pthread_rwlock_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, use, 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return uses == 3 ? 0 : 1;
}
