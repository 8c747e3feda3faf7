// SPDX-License-Identifier: Apache-2.0
//
// A lock in inline assembly, which is seen; one thread forgets to take it.
//
// EXPECT-RACE: counter
#include <pthread.h>

static int lock;
static long counter;

static void* locked(void* argument) {
  int value = 1;
  __asm__ __volatile__("xchgl %0, %1" : "+r"(value), "+m"(lock) : : "memory");
  ++counter;
  *(volatile int*)&lock = 0;
  return argument;
}
static void* unlocked(void* argument) {
  ++counter;
  return argument;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, locked, NULL);
  pthread_create(&threads[1], NULL, unlocked, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}
