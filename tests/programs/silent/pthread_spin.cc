// SPDX-License-Identifier: Apache-2.0
//
// pthread spin locks, lock and trylock.
//
// EXPECT-NO-RACE
#include <pthread.h>

pthread_spinlock_t lock;
int data = 0;

void* work(void*) {
  for (int i = 0; i < 200; i++) {
    if (i % 2 == 0)
      pthread_spin_lock(&lock);
    else
      while (pthread_spin_trylock(&lock) != 0) sched_yield();
    data++;
    pthread_spin_unlock(&lock);
  }
  return nullptr;
}

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_spin_destroy(&lock);
  return data == 400 ? 0 : 1;
}
