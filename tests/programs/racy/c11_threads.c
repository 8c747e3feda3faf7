// SPDX-License-Identifier: Apache-2.0
//
// C11 threads in C: a struct field, with a mutex taken by one side only.
//
// EXPECT-RACE: account::balance|struct account::balance write-write
// OTHER-TOOLS: differ (ThreadSanitizer does not know C11 threads)
#include <threads.h>

#include "invisible_barrier.h"

struct account {
  int id;
  int balance;
};
static struct account account;
static mtx_t mutex;
static int step;

static int deposit(void* unused) {
  (void)unused;
  invisible_start(2);
  mtx_lock(&mutex);
  account.balance = 1;
  mtx_unlock(&mutex);
  invisible_signal(&step);
  return 0;
}

static int withdraw(void* unused) {
  (void)unused;
  invisible_start(2);
  invisible_wait(&step, 1);
  account.balance = 2;
  return 0;
}

int main(void) {
  thrd_t one, two;
  mtx_init(&mutex, mtx_plain);
  thrd_create(&one, deposit, 0);
  thrd_create(&two, withdraw, 0);
  thrd_join(one, 0);
  thrd_join(two, 0);
  return account.balance == 2 ? 0 : 1;
}
