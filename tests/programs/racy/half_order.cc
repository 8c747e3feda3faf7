// SPDX-License-Identifier: Apache-2.0
//
// Half of a pair is not enough: release without acquire, acquire without release, a fence too late.
//
// EXPECT-RACE: released
// EXPECT-RACE: acquired
// EXPECT-RACE: fenced_late
// OTHER-TOOLS: differ (ThreadSanitizer does not understand fences)
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

int released = 0, acquired = 0, fenced_late = 0;
std::atomic<int> a = 0, b = 0, c = 0;

template <std::memory_order order>
void wait_for(std::atomic<int>& flag) {
  while (flag.load(order) == 0) std::this_thread::yield();
}

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    released = 1;
    a.store(1, std::memory_order_release);
    acquired = 1;
    b.store(1, std::memory_order_relaxed);
    fenced_late = 1;
    c.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  });
  std::thread two([&seen] {
    invisible_start(2);
    wait_for<std::memory_order_relaxed>(a);
    seen += released;
    wait_for<std::memory_order_acquire>(b);
    seen += acquired;
    wait_for<std::memory_order_acquire>(c);
    seen += fenced_late;
  });
  one.join();
  two.join();
  return seen == 3 ? 0 : 1;
}
