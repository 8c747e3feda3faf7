// SPDX-License-Identifier: Apache-2.0
//
// A thread that does not take part in the barrier is not ordered by it.
//
// EXPECT-RACE: cell write-read
#include <pthread.h>

#include "invisible_barrier.h"

pthread_barrier_t barrier;
int cell = 0;
int step = 0;
int seen = 0;

void* member(void* writes) {
  invisible_start(3);
  if (writes != nullptr) cell = 1;
  pthread_barrier_wait(&barrier);
  if (writes == nullptr && cell == 1) invisible_signal(&step);
  return nullptr;
}

void* bystander(void*) {
  invisible_start(3);
  invisible_wait(&step, 1);
  seen = cell;
  return nullptr;
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, member, &step);
  pthread_create(&threads[1], nullptr, member, nullptr);
  pthread_create(&threads[2], nullptr, bystander, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return seen == 1 ? 0 : 1;
}
