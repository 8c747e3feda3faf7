// SPDX-License-Identifier: Apache-2.0
//
// A thread's own write, and its own read after it, of which the other thread's write may come in between. Only the first of
// the two is reported as a race; both must be schedule points.
//
// EXPECT-FAILURE: assertion
// WITHIN: 100
#include <assert.h>
#include <pthread.h>

static int x;

static void* write_other(void* unused) {
  (void)unused;
  x = 6;
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, write_other, NULL);
  x = 2;
  assert(x == 2);
  pthread_join(thread, NULL);
  return 0;
}
