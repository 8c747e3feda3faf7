// SPDX-License-Identifier: Apache-2.0
//
// duress::assume: executions in which it does not hold do not count, and hide nothing of what other threads do.
// Of the two orders of the load and the store of x, one is left; the assertion sees that y was stored too.
//
// EXPECT-VERIFY: 1 failure assertion
// VERIFY-ALSO: -DRIGHT 1 none
// VERIFY-ALSO: -DOTHER_FAILS * failure exit:7
// VERIFY-RC11: *
#include <assert.h>
#include <duress/annotate.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

std::atomic<int> x{0}, y{0};

void* assumes(void*) {
  duress::assume(x == 1);
#ifdef RIGHT
  assert(y == 1);
#else
  assert(y == 0);
#endif
  return nullptr;
}

void* stores(void*) {
  y = 1;
  x = 1;
#ifdef OTHER_FAILS
  _exit(7);
#endif
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, assumes, nullptr);
  pthread_create(&threads[1], nullptr, stores, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
