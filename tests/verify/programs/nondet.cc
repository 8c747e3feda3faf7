// SPDX-License-Identifier: Apache-2.0
//
// duress::nondet: every number is explored, in every interleaving. 3 numbers of main, times 2 of each of two
// threads, times 6 orders of an update each and a load by main; 100 numbers, one of which fails.
//
// EXPECT-VERIFY: 72 none
// VERIFY-ALSO: -DMANY=100 100 failure assertion
// VERIFY-ALSO: -DMANY=129 129 failure assertion
// VERIFY-ALSO: -DMANY=64 64 none
// VERIFY-RC11: *
#include <assert.h>
#include <duress/annotate.h>
#include <pthread.h>

#include <atomic>

std::atomic<unsigned> sum{0};

void* adds(void*) {
  sum += 1 + duress::nondet(2);
  return nullptr;
}

int main() {
#ifdef MANY
  unsigned number = duress::nondet(MANY);
  assert(number < MANY && number != 77);
#else
  unsigned first = duress::nondet(3);
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, adds, nullptr);
  unsigned seen = sum;
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  assert(first < 3 && seen <= sum && sum >= 2 && sum <= 4);
#endif
}
