// SPDX-License-Identifier: Apache-2.0
//
// More stores that a load may read than are explored: the bound names the variable and the line.
//
// EXPECT-VERIFY: * none
// VERIFY-FLAGS: --model rc11
// VERIFY-BOUND: only the newest 64 are explored, first at bound_stores.cc:20, on written_often
#include <pthread.h>

#include <atomic>

std::atomic<int> written_often{0};

void* stores(void*) {
  for (int i = 1; i <= 70; ++i) written_often.store(i, std::memory_order_relaxed);
  return nullptr;
}

void* loads(void*) {
  return written_often.load(std::memory_order_relaxed) < 0 ? &written_often : nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, stores, nullptr);
  pthread_create(&threads[1], nullptr, loads, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
