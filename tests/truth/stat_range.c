// SPDX-License-Identifier: Apache-2.0
//
// A statistics counter with a test that knows it is approximate.
//
// truth: requests harmless: each store writes one more than some earlier value, so after the join it is between 1 and the number of increments
#include <pthread.h>

static int requests;

static void* serve(void* unused) {
  (void)unused;
  for (int i = 0; i < 3; ++i) requests++;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, serve, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return requests >= 1 && requests <= 6 ? 0 : 1;
}
