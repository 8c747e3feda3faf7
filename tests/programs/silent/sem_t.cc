// SPDX-License-Identifier: Apache-2.0
//
// POSIX semaphores: wait, trywait and timedwait take the order from the post.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

sem_t filled, empty;
int data = 0;

void* producer(void*) {
  for (int i = 1; i <= 90; i++) {
    sem_wait(&empty);
    data = i;
    sem_post(&filled);
  }
  return nullptr;
}

int main() {
  sem_init(&filled, 0, 0);
  sem_init(&empty, 0, 1);
  pthread_t thread;
  pthread_create(&thread, nullptr, producer, nullptr);
  long sum = 0;
  for (int i = 0; i < 90; i++) {
    timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 1000;
    if (i % 3 == 0)
      sem_wait(&filled);
    else if (i % 3 == 1)
      while (sem_trywait(&filled) != 0) sched_yield();
    else if (sem_timedwait(&filled, &late) != 0)
      return 1;
    sum += data;
    sem_post(&empty);
  }
  pthread_join(thread, nullptr);
  return sum == 90 * 91 / 2 ? 0 : 1;
}
