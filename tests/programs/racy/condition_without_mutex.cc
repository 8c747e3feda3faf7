// SPDX-License-Identifier: Apache-2.0
//
// Signalling a condition without the mutex does not order the flag that the waiter reads.
//
// EXPECT-RACE: ready write-read
#include <pthread.h>

#include "invisible_barrier.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
bool ready = false;
int step = 0;

void* setter(void*) {
  ready = true;
  pthread_cond_signal(&condition);
  invisible_signal(&step);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, setter, nullptr);
  invisible_wait(&step, 1);
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  return 0;
}
