// SPDX-License-Identifier: Apache-2.0
//
// Two holders of a read lock are not ordered: writing under it races.
//
// EXPECT-RACE: shared write-write
#include <pthread.h>

#include "invisible_barrier.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int shared = 0;
int step = 0;

void* first(void*) {
  invisible_start(2);
  pthread_rwlock_rdlock(&lock);
  shared++;
  pthread_rwlock_unlock(&lock);
  invisible_signal(&step);
  return nullptr;
}

void* second(void*) {
  invisible_start(2);
  invisible_wait(&step, 1);
  pthread_rwlock_rdlock(&lock);
  shared++;
  pthread_rwlock_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, first, nullptr);
  pthread_create(&threads[1], nullptr, second, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return shared == 2 ? 0 : 1;
}
