// SPDX-License-Identifier: Apache-2.0
//
// Threads that leave by pthread_exit while others wait in a join for them, and one that throws. The unwinder, which
// both need, has a pthread_once of its own: threads do not meet there, so that no execution is run twice.
//
// EXPECT-VERIFY: 18 none
// VERIFY-RC11: 18
// VERIFY-BLOCKED: 0
#include <pthread.h>

#include <atomic>

std::atomic<int> x;

void* add(void*) {
  try {
    throw x.fetch_add(1);
  } catch (int) {
  }
  pthread_exit(nullptr);
}

void* wait_for_one(void*) {
  pthread_t one;
  pthread_create(&one, nullptr, add, nullptr);
  (void)x.load();
  pthread_join(one, nullptr);
  pthread_exit(nullptr);
}

int main() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, wait_for_one, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
