// SPDX-License-Identifier: Apache-2.0
//
// A new thread gets the stack of one that has ended; old accesses there mean nothing.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <semaphore.h>

#include "invisible_barrier.h"

int ended = 0;

void fill(volatile int* out) {
  volatile int values[256];
  for (int i = 0; i < 256; i++) values[i] = i;
  *out += values[255];
}

void* body(void* out) {
  fill(static_cast<int*>(out));
  invisible_signal(&ended);
  return nullptr;
}

int main() {
  static int results[50];
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &detached, body, &results[i]) != 0) return 1;
    invisible_wait(&ended, i + 1);
  }
  return 0;
}
