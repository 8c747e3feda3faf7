// SPDX-License-Identifier: Apache-2.0
//
// Two equal loads are taken as a proof that nothing happened in between.
//
// truth: owner destructive exit:1: it may have changed and changed back between the loads, or an old value is read twice
#include <pthread.h>
#include <stdatomic.h>

static int owner = 1;
static atomic_int changes;
static int wrong;

static void* borrow(void* unused) {
  (void)unused;
  owner = 2;
  atomic_fetch_add(&changes, 1);
  owner = 1;
  return 0;
}

static void* inspect(void* unused) {
  (void)unused;
  int before = owner;
  int count = atomic_load(&changes);
  int again = owner;
  if (before == again && before == 2) return 0;
  if (before == again && atomic_load(&changes) != count) wrong = 1;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, borrow, 0);
  pthread_create(&threads[1], 0, inspect, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return wrong;
}
