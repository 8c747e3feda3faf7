// SPDX-License-Identifier: Apache-2.0
//
// Any thread may report an error; one is enough.
//
// truth: error harmless: all stores are errors, and it is read after the joins
#include <pthread.h>

static int error;

static void* run(void* argument) {
  error = (int)(long)argument + 1;
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return error != 0 ? 0 : 1;
}
