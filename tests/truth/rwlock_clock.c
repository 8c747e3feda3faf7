// SPDX-License-Identifier: Apache-2.0
//
// Readers under a read lock note when an entry was last used.
//
// truth: entry::last_used|*entry::last_used harmless: approximate; any of the stored times will do for a cache
#define _GNU_SOURCE
#include <pthread.h>

struct entry {
  int value, last_used;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry entry = {4, 0};
static int sums[2];

static void* use(void* argument) {
  long self = (long)argument;
  for (int i = 1; i < 3; ++i) {
    pthread_rwlock_rdlock(&lock);
    sums[self] += entry.value;
    entry.last_used = i;
    pthread_rwlock_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, use, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return sums[0] == 8 && sums[1] == 8 && entry.last_used >= 1 && entry.last_used <= 2 ? 0 : 1;
}
