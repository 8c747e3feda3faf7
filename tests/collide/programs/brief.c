// SPDX-License-Identifier: Apache-2.0
// Pairs of threads that count without a lock and end soon, 400 pairs; exit code 7.
#include <pthread.h>

long counter;

__attribute__((noinline)) static void bump(void) {
  counter++;
}

static void *work(void *unused) {
  for (int i = 0; i < 20000; i++) bump();
  return unused;
}

int main(void) {
  for (int pair = 0; pair < 400; pair++) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
  }
  return 7;
}
