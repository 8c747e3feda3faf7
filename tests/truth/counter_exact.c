// SPDX-License-Identifier: Apache-2.0
//
// A lost update: the sum must be exact.
//
// truth: total destructive exit:1: load, add and store are not one step; an increment is lost
#include <pthread.h>

static int total;

static void* add(void* unused) {
  (void)unused;
  total += 1;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return total == 2 ? 0 : 1;
}
