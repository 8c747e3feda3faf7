// SPDX-License-Identifier: Apache-2.0
// Two threads count without a lock, for so many seconds (default: until they are stopped); exit code 7.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long counter;
static double seconds;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void bump(void) {
  counter++;
}

static void *work(void *unused) {
  double end = now() + seconds;
  while (seconds == 0 || now() < end)
    for (int i = 0; i < 1000; i++) bump();
  return unused;
}

int main(int argc, char **argv) {
  pthread_t a, b;
  seconds = argc > 1 ? atof(argv[1]) : 0;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  puts(counter > 0 ? "counted" : "nothing");
  return 7;
}
