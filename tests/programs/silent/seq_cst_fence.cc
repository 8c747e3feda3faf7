// SPDX-License-Identifier: Apache-2.0
//
// A sequentially consistent fence is also a release and an acquire fence.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer does not understand fences)
#include <atomic>
#include <thread>

int data = 0;
std::atomic<int> flag = 0;

int main() {
  std::thread writer([] {
    data = 42;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    flag.fetch_add(1, std::memory_order_relaxed);
  });
  while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int seen = data;
  writer.join();
  return seen == 42 ? 0 : 1;
}
