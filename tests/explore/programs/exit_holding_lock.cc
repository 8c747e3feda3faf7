// SPDX-License-Identifier: Apache-2.0
//
// A worker that finds nothing to do leaves by pthread_exit, with the lock.
//
// EXPECT-FAILURE: deadlock
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int jobs = 1;

void* work(void*) {
  pthread_mutex_lock(&lock);
  if (jobs == 0) pthread_exit(nullptr);  // should unlock first
  --jobs;
  pthread_mutex_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, work, nullptr);
  pthread_create(&second, nullptr, work, nullptr);
  pthread_join(first, nullptr);
  pthread_mutex_lock(&lock);
  ++jobs;
  pthread_mutex_unlock(&lock);
  pthread_join(second, nullptr);
}
