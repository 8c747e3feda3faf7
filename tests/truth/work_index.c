// SPDX-License-Identifier: Apache-2.0
//
// Threads take items by a plain index.
//
// truth: next_item destructive exit:1: two threads may take the same item
#include <pthread.h>
#include <stdatomic.h>

static int next_item;
static atomic_int done[4];

static void* run(void* unused) {
  (void)unused;
  for (;;) {
    int item = next_item++;
    if (item >= 4) return 0;
    atomic_fetch_add(&done[item], 1);
  }
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  for (int i = 0; i < 4; ++i) {
    if (atomic_load(&done[i]) != 1) return 1;
  }
  return 0;
}
