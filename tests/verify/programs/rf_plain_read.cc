// SPDX-License-Identifier: Apache-2.0
//
// A plain read of what was stored atomically, when all threads have ended: no race and no step, but its value
// depends on the order of the stores. So reads-from classes do not suffice, and the exploration is by traces.
//
// EXPECT-VERIFY: 2 failure assertion
// VERIFY-WITH: --equivalence rf: 2 failure assertion
// VERIFY-ALSO: -DUPDATES 2 none
#include <assert.h>
#include <pthread.h>

static int x;

static void* add(void* value) {
  const int number = *static_cast<int*>(value);
#ifdef UPDATES
  __atomic_fetch_add(&x, number, __ATOMIC_RELAXED);
#else
  __atomic_store_n(&x, number, __ATOMIC_RELAXED);
#endif
  return nullptr;
}

int main() {
  pthread_t threads[2];
  int values[2] = {1, 2};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, add, &values[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
#ifdef UPDATES
  assert(x == 3);
#else
  assert(x == 2);
#endif
}
