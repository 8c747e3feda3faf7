// SPDX-License-Identifier: Apache-2.0
//
// A thread that may be cancelled waits on a condition variable. Cancelled there, it has the lock again, and
// no handler gives it back. Cancelled before or after, all is well.
//
// EXPECT-FAILURE: deadlock
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready = 0;

void* wait_for_work(void*) {
  pthread_mutex_lock(&lock);
  while (ready == 0) pthread_cond_wait(&changed, &lock);  // needs pthread_cleanup_push
  pthread_mutex_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t worker;
  pthread_create(&worker, nullptr, wait_for_work, nullptr);
  pthread_cancel(worker);
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(worker, nullptr);
}
