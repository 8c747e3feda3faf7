// SPDX-License-Identifier: Apache-2.0
//
// The same in C.
//
// FIX: make hits atomic
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int hits = 0;

static void *serve(void *ignored) {
  hits++;
  return ignored;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, serve, NULL);
  serve(NULL);
  pthread_join(other, NULL);
  assert(hits == 2);
  return 0;
}
