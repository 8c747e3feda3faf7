// SPDX-License-Identifier: Apache-2.0
//
// A condition variable whose wait times out gives the mutex back and is ordered by it.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int data = 0;
bool ready = false;

void* writer(void*) {
  for (int i = 0; i < 10; i++) {
    pthread_mutex_lock(&mutex);
    data++;
    ready = i == 9;
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;  // never signals: the waiter lives on time-outs
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, writer, nullptr);
  pthread_mutex_lock(&mutex);
  while (!ready) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += 1000000;
    if (now.tv_nsec >= 1000000000) now.tv_nsec -= 1000000000, now.tv_sec++;
    pthread_cond_timedwait(&condition, &mutex, &now);
    data += 0;
  }
  int seen = data;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  return seen == 10 ? 0 : 1;
}
