// SPDX-License-Identifier: Apache-2.0
//
// A line number for the log, beside a table under a rwlock.
//
// truth: lines harmless: the number only labels lines
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table = 1;
static int lines;
static int seen[3];

static void* run(void* argument) {
  long self = (long)argument;
  if (self == 0) {
    pthread_rwlock_wrlock(&lock);
    table = 2;
  } else {
    pthread_rwlock_rdlock(&lock);
    seen[self] = table;
  }
  lines++;
  pthread_rwlock_unlock(&lock);
  lines++;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return table == 2 && seen[1] >= 1 && seen[2] >= 1 ? 0 : 1;
}
