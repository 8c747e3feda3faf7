// SPDX-License-Identifier: Apache-2.0
//
// The semaphore is posted before the data is written.
//
// truth: message destructive exit:1: the receiver may read before the sender writes
#include <pthread.h>
#include <semaphore.h>

static sem_t sent;
static int message;

static void* sender(void* unused) {
  (void)unused;
  sem_post(&sent);
  message = 21;
  return 0;
}

int main(void) {
  pthread_t thread;
  int seen;
  sem_init(&sent, 0, 0);
  pthread_create(&thread, 0, sender, 0);
  sem_wait(&sent);
  seen = message;
  pthread_join(thread, 0);
  return seen == 21 ? 0 : 1;
}
