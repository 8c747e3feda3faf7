// SPDX-License-Identifier: Apache-2.0
//
// Ids from a plain counter must be unique.
//
// truth: next_id destructive exit:1: two threads may read the same number
#include <pthread.h>

static int next_id = 1;
static int ids[3];

static void* take(void* argument) {
  ids[(long)argument] = next_id++;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, take, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2] ? 0 : 1;
}
