// SPDX-License-Identifier: Apache-2.0
//
// A thread is joined only if it has not said that it is done. Detached it need not be.
//
// EXPECT-VERIFY: 2 failure not-joined
// VERIFY-ALSO: -DDETACHED 1 none
#include <pthread.h>

#include <atomic>

std::atomic<bool> done{false};

void* work(void*) {
  done = true;
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
#ifdef DETACHED
  pthread_detach(thread);
#else
  if (!done) pthread_join(thread, nullptr);
#endif
}
