// SPDX-License-Identifier: Apache-2.0
//
// A timeout that an operator changes while the program runs.
//
// truth: timeout harmless: either number is a valid timeout
#include <pthread.h>

static int timeout = 30;
static int used[2];

static void* operate(void* unused) {
  (void)unused;
  timeout = 60;
  return 0;
}

static void* request(void* argument) {
  used[(long)argument] = timeout;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, operate, 0);
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i + 1], 0, request, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  for (int i = 0; i < 2; ++i) {
    if (used[i] != 30 && used[i] != 60) return 1;
  }
  return 0;
}
