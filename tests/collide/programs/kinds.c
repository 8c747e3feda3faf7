// SPDX-License-Identifier: Apache-2.0
// One race of each kind that DataCollider's table knows, chosen by the first argument; until it is stopped.
#include <pthread.h>
#include <string.h>

unsigned flags;
int same = 5;
long debug_level;
volatile int ready;
int state;

#define FOREVER for (;;)
#define STEP __asm__ volatile("" ::: "memory")

static void *flags_a(void *p) {
  FOREVER {
    flags |= 1;
    STEP;
    flags &= ~1u;
    STEP;
  }
  return p;
}
static void *flags_b(void *p) {
  FOREVER {
    flags |= 2;
    STEP;
    flags &= ~2u;
    STEP;
  }
  return p;
}
static void *same_a(void *p) {
  FOREVER {
    same = 5;
    STEP;
  }
  return p;
}
static void *names_a(void *p) {
  for (long i = 0;; i++) {
    debug_level = i;
    STEP;
  }
  return p;
}
static void *volatile_a(void *p) {
  for (int i = 0;; i++) ready = i;
  return p;
}
static void *state_a(void *p) {
  for (int i = 0;; i++) {
    state = i;
    STEP;
  }
  return p;
}

int main(int argc, char **argv) {
  pthread_t a, b;
  void *(*one)(void *) = state_a, *(*two)(void *) = state_a;
  const char *kind = argc > 1 ? argv[1] : "state";
  if (!strcmp(kind, "flags")) one = flags_a, two = flags_b;
  if (!strcmp(kind, "same")) one = two = same_a;
  if (!strcmp(kind, "names")) one = two = names_a;
  if (!strcmp(kind, "volatile")) one = two = volatile_a;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
