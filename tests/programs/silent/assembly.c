// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations in inline assembly, as spin locks, libuv and liburcu have them: a lock that xchg takes and a volatile store gives
// back, a reference count, a pointer that is published by xchg and read as volatile, and a locked instruction on a local as a fence (oneTBB).
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <stdlib.h>

struct whole {
  unsigned long v[10];
};
#define WHOLE(p) (*(struct whole*)(p))

static int exchange(int* p, int value) {
  __asm__ __volatile__("xchgl %0, %1" : "+r"(value), "+m"(WHOLE(p)) : : "memory");
  return value;
}
static void* exchange_pointer(void** p, void* value) {
  __asm__ __volatile__("xchg %0, %1" : "+r"(value), "+m"(*p) : : "memory");
  return value;
}
static long add(long* p, long value) {
  __asm__ __volatile__("lock; xaddq %0, %1" : "+r"(value), "+m"(*p) : : "memory");
  return value;
}
static int swap_if(int* p, int expected, int value) {
  int old;
  __asm__ __volatile__("lock; cmpxchg %2, %1;"
                       : "=a"(old), "+m"(*(volatile int*)p)
                       : "r"(value), "0"(expected)
                       : "memory");
  return old;
}

static void fence(void) {
  unsigned char dummy = 0;
  __asm__ __volatile__("lock; notb %0" : "+m"(dummy) : : "memory");
}

static int lock, other_lock;
static int fenced, fenced_flag;
static long counter, other_counter;

struct object {
  long references;
  long payload[2];
};
static struct object* shared;
static void* published;

static void* work(void* argument) {
  long me = (long)argument;
  for (int i = 0; i < 200; ++i) {
    while (exchange(&lock, 1) != 0) {
    }
    ++counter;
    *(volatile int*)&lock = 0;
    while (swap_if(&other_lock, 0, 1) != 0) {
    }
    ++other_counter;
    swap_if(&other_lock, 1, 0);
  }
  shared->payload[me] = 1;
  if (add(&shared->references, -1) == 1) {
    counter += shared->payload[0] + shared->payload[1] - 2;
    free(shared);
  }
  if (me == 0) {
    fenced = 1;
    fence();
    __atomic_store_n(&fenced_flag, 1, __ATOMIC_RELAXED);
  } else {
    while (!__atomic_load_n(&fenced_flag, __ATOMIC_RELAXED)) {
    }
    fence();
    if (fenced != 1) abort();
  }
  if (me == 0) {
    long* number = malloc(sizeof *number);
    *number = 7;
    exchange_pointer(&published, number);
  } else {
    long* number;
    while (!(number = *(void* volatile*)&published)) {
    }
    if (*number != 7) abort();
    free(number);
  }
  return NULL;
}

int main(void) {
  shared = calloc(1, sizeof *shared);
  shared->references = 2;
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return counter == 400 && other_counter == 400 ? 0 : 1;
}
