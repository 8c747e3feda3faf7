// SPDX-License-Identifier: Apache-2.0
//
// Lazy initialisation of a table, checked before and under the lock; the table is read without it.
//
// truth: initialised destructive exit:1: seen without the lock it promises a table that need not be visible
// truth: table[] destructive exit:1: the unlocked reader may see the zeros
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static int table[4];

static int lookup(int i) {
  if (!initialised) {
    pthread_mutex_lock(&mutex);
    if (!initialised) {
      for (int k = 0; k < 4; ++k) table[k] = k + 1;
      initialised = 1;
    }
    pthread_mutex_unlock(&mutex);
  }
  return table[i];
}

static void* run(void* result) {
  *(int*)result = lookup(3);
  return 0;
}

int main(void) {
  pthread_t threads[2];
  int results[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, &results[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return results[0] == 4 && results[1] == 4 ? 0 : 1;
}
