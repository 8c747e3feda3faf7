// SPDX-License-Identifier: Apache-2.0
//
// A cancelled thread runs its clean-up handlers, which unlock; join is ordered after them.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int data = 0, cleaned = 0;

void clean(void*) {
  cleaned = 1;
  data++;
  pthread_mutex_unlock(&mutex);
}

void* waits(void*) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean, nullptr);
  data++;
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(1);
  return nullptr;
}

void* pauses(void*) {
  for (;;) pause();
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, waits, nullptr);
  pthread_create(&second, nullptr, pauses, nullptr);
  pthread_cancel(first);
  pthread_cancel(second);
  void* result = nullptr;
  pthread_join(first, &result);
  bool cancelled = result == PTHREAD_CANCELED;
  pthread_join(second, &result);
  cancelled = cancelled && result == PTHREAD_CANCELED;
  pthread_mutex_lock(&mutex);
  // Cancelled before it started, or inside the wait: then the handler has run.
  bool right = data == 2 * cleaned;
  pthread_mutex_unlock(&mutex);
  return cancelled && right ? 0 : 1;
}
