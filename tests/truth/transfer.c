// SPDX-License-Identifier: Apache-2.0
//
// Money moves between accounts without a lock.
//
// truth: account::balance|accounts*balance* destructive exit:1: a lost update makes or destroys money
#include <pthread.h>

struct account {
  long balance;
};

static struct account accounts[2] = {{100}, {100}};

static void* transfer(void* argument) {
  long from = (long)argument;
  accounts[from].balance -= 10;
  accounts[1 - from].balance += 10;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, transfer, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return accounts[0].balance + accounts[1].balance == 200 ? 0 : 1;
}
