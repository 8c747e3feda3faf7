// SPDX-License-Identifier: Apache-2.0
//
// An atomic with more stores than explore remembers, while main, which waits, knows none of them: all are kept.
// A thread that loads once can read each of 50.
//
// EXPECT-VERIFY: 1 none
// VERIFY-ALSO: -DLOAD=1 51 none
// VERIFY-RC11: =
#include <pthread.h>

#include <atomic>

std::atomic<int> x{0};

void* stores(void*) {
#ifdef LOAD
  constexpr int kStores = 50;
#else
  constexpr int kStores = 1000;
#endif
  for (int i = 1; i <= kStores; ++i) x.store(i, std::memory_order_relaxed);
  return nullptr;
}

void* loads(void*) {
#ifdef LOAD
  return x.load(std::memory_order_relaxed) < 0 ? &x : nullptr;
#endif
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, stores, nullptr);
  pthread_create(&threads[1], nullptr, loads, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
