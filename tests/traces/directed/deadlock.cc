// SPDX-License-Identifier: Apache-2.0
// Two locks in both orders, far apart in most runs.
// EXPECT LockOrder: 1 suspected, 1 created
#include <atomic>
#include <mutex>
#include <thread>

std::mutex a, b;
std::atomic<int> steps;

int main() {
  std::thread other([] {
    for (int i = 0; i < 200; ++i) steps.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard second(b);
    std::lock_guard first(a);
  });
  {
    std::lock_guard first(a);
    std::lock_guard second(b);
  }
  other.join();
}
