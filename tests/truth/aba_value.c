// SPDX-License-Identifier: Apache-2.0
//
// Two equal loads are taken as a proof that nothing happened in between.
//
// truth: owner destructive exit:1: it may have changed and changed back between the loads, or an old value is read twice
// truth-missed: owner not judged: one of 100 ordinary schedules fails too, which is too rare to charge the race with
#include <pthread.h>
#include <stdatomic.h>

static int owner = 1;
static atomic_int stock = 10;
static int wrong;

static void* borrow(void* unused) {
  (void)unused;
  owner = 2;
  atomic_store(&stock, 99);
  atomic_store(&stock, 10);
  owner = 1;
  return 0;
}

static void* inspect(void* unused) {
  (void)unused;
  int before = owner;
  int seen = atomic_load(&stock);
  int again = owner;
  if (before == 1 && again == 1 && seen != 10) wrong = 1;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, borrow, 0);
  pthread_create(&threads[1], 0, inspect, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return wrong;
}
