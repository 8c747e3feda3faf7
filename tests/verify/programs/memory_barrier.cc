// SPDX-License-Identifier: Apache-2.0
//
// A barrier is destroyed before a thread comes to it, used afterwards, or initialised again.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DUSED failure use-after-destroy
// VERIFY-FAULT: -DEARLY failure use-after-destroy
// VERIFY-FAULT: -DAGAIN failure double-init
#include <pthread.h>

#include <thread>

pthread_barrier_t barrier;

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread thread([] { pthread_barrier_wait(&barrier); });
#ifdef EARLY
  pthread_barrier_destroy(&barrier);
#endif
#ifdef AGAIN
  pthread_barrier_init(&barrier, nullptr, 2);
#endif
  pthread_barrier_wait(&barrier);
  thread.join();
  pthread_barrier_destroy(&barrier);
#ifdef USED
  pthread_barrier_wait(&barrier);
#else
  pthread_barrier_init(&barrier, nullptr, 1);
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
#endif
}
