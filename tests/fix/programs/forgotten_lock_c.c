// SPDX-License-Identifier: Apache-2.0
//
// The same with a mutex of POSIX threads.
//
// FIX: hold
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 0;

static void *deposit(void *ignored) {
  pthread_mutex_lock(&lock);
  balance += 5;
  pthread_mutex_unlock(&lock);
  return ignored;
}

static int read_balance(void) {
  return balance;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, deposit, NULL);
  int seen = read_balance();
  pthread_join(other, NULL);
  return seen == 0 || seen == 5 ? 0 : 1;
}
