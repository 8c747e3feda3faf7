// SPDX-License-Identifier: Apache-2.0
//
// Plain stores that race, and a plain read that does not: the order of the stores decides what it reads, so it
// is part of a reads-from class.
//
// EXPECT-VERIFY: 2 race x
// EXPECT-VERIFY: 2 failure assertion
// VERIFY-FLAGS: --equivalence rf
// VERIFY-FIX: none
#include <assert.h>
#include <pthread.h>

static int x;

static void* one(void*) {
  x = 1;
  return nullptr;
}
static void* two(void*) {
  x = 2;
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, one, nullptr);
  pthread_create(&threads[1], nullptr, two, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  assert(x == 2);
}
