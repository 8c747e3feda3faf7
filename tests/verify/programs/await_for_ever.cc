// SPDX-License-Identifier: Apache-2.0
//
// Two threads wait at a test-and-set lock that nobody releases. What each of them does in a round lets the other
// one go on no more than before.
//
// EXPECT-VERIFY: 2 failure no-end
// VERIFY-RC11: 2
#include <pthread.h>

#include <atomic>

std::atomic<int> locked{1};

void* wait(void*) {
  while (locked.exchange(1) == 1) {
  }
  return nullptr;
}

int main() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, wait, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
