// SPDX-License-Identifier: Apache-2.0
//
// A thread waits for a plain variable. Nobody knows that it races before the other thread has run again, so the wait must
// not keep it from running: no execution of this program is endless under a fair schedule.
//
// EXPECT-NO-FAILURE
#include <pthread.h>

static int busy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* unused) {
  (void)unused;
  busy = 1;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  busy = 0;
  return NULL;
}

static void* wait_for_it(void* unused) {
  (void)unused;
  if (busy != 0) {
    while (busy != 0) {
    }
  }
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, work, NULL);
  pthread_create(&b, NULL, wait_for_it, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
