// SPDX-License-Identifier: Apache-2.0
//
// A robust mutex whose owner died: the next owner is ordered after what the dead thread did.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer does not order a dead owner)
#include <errno.h>
#include <pthread.h>

#include "invisible_barrier.h"

pthread_mutex_t mutex;
int data = 0;
int held = 0;

void* dies(void*) {
  pthread_mutex_lock(&mutex);
  data = 42;
  invisible_signal(&held);
  return nullptr;
}

int main() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &kind);
  pthread_t thread;
  pthread_create(&thread, nullptr, dies, nullptr);
  invisible_wait(&held, 1);
  if (pthread_mutex_lock(&mutex) != EOWNERDEAD) return 1;
  pthread_mutex_consistent(&mutex);
  int seen = data;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  return seen == 42 ? 0 : 1;
}
