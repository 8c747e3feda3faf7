// SPDX-License-Identifier: Apache-2.0
//
// Two threads set different bits of one word.
//
// truth: flags destructive exit:1: |= is a load and a store of the whole word; one bit is lost
#include <pthread.h>

static unsigned flags;

static void* set(void* bit) {
  flags |= (unsigned)(unsigned long)bit;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, set, (void*)(1ul << i));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return flags == 3 ? 0 : 1;
}
