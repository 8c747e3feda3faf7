// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile int stop;
static long hits;
static void* count(void* unused) {
  while (!stop) ++hits;
  return unused;
}
int main(int argc, char** argv) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  struct timespec wait = {argc > 1 ? atoi(argv[1]) : 1, 0};
  nanosleep(&wait, 0);
  stop = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
}
