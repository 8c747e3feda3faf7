// SPDX-License-Identifier: Apache-2.0
//
// Store buffering beside a semaphore that nobody needs: 4 executions of the two stores and loads, each with
// the two orders of the posts.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: 8
#include <semaphore.h>

#include <atomic>
#include <thread>

sem_t semaphore;
std::atomic<int> x = 0, y = 0;

int main() {
  sem_init(&semaphore, 0, 0);
  std::thread first([] {
    x.store(1, std::memory_order_relaxed);
    (void)y.load(std::memory_order_relaxed);
    sem_post(&semaphore);
  });
  std::thread second([] {
    y.store(1, std::memory_order_relaxed);
    (void)x.load(std::memory_order_relaxed);
    sem_post(&semaphore);
  });
  first.join();
  second.join();
}
