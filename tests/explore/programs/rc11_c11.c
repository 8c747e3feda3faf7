// SPDX-License-Identifier: Apache-2.0
//
// C11: a store that was made later comes earlier in modification order. Each thread writes both, in opposite
// order, and in the end neither was last with both: not even every interleaving of the four stores does that.
//
// EXPECT-FAILURE: exit:1
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- seq_cst
// WITHIN: 1000
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_short x, y;
static memory_order order = memory_order_relaxed;

static void* first(void* unused) {
  atomic_store_explicit(&x, 1, order);
  atomic_store_explicit(&y, 2, order);
  return unused;
}

static void* second(void* unused) {
  atomic_store_explicit(&y, 1, order);
  atomic_store_explicit(&x, 2, order);
  return unused;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) order = memory_order_seq_cst;
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return atomic_load(&x) == 1 && atomic_load(&y) == 1;
}
