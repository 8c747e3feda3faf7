// SPDX-License-Identifier: Apache-2.0
//
// Readers share, writers exclude: read-unlock is ordered before the next write-lock.
//
// EXPECT-NO-RACE
// SUITE: fast
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int data = 0;

void* work(void* argument) {
  long mine = reinterpret_cast<long>(argument), sum = 0;
  for (int i = 0; i < 200; i++) {
    if (i % 4 == mine) {
      if (i % 8 < 4)
        pthread_rwlock_wrlock(&lock);
      else
        while (pthread_rwlock_trywrlock(&lock) != 0) sched_yield();
      data++;
    } else {
      pthread_rwlock_rdlock(&lock);
      sum += data;
    }
    pthread_rwlock_unlock(&lock);
  }
  return reinterpret_cast<void*>(sum);
}

int main() {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], nullptr, work, reinterpret_cast<void*>(i));
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return data == 200 ? 0 : 1;
}
