// SPDX-License-Identifier: Apache-2.0
//
// A relaxed flag with a release fence before the store and an acquire fence after the load orders data.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer does not understand fences)
// SUITE: fast
#include <atomic>
#include <thread>

int data = 0;
std::atomic<int> flag = 0;

int main() {
  std::thread writer([] {
    data = 42;
    std::atomic_thread_fence(std::memory_order_release);
    flag.store(1, std::memory_order_relaxed);
  });
  while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
  std::atomic_thread_fence(std::memory_order_acquire);
  int seen = data;
  writer.join();
  return seen == 42 ? 0 : 1;
}
