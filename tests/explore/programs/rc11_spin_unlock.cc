// SPDX-License-Identifier: Apache-2.0
//
// A spin lock whose unlock releases nothing: the next owner may see the balance as it was.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- release
// WITHIN: 500
#include <atomic>
#include <cassert>
#include <thread>

std::memory_order on_unlock = std::memory_order_relaxed;

class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, on_unlock); }

 private:
  std::atomic<bool> taken_{false};
};

SpinLock lock;
std::atomic<int> balance{100};  // atomic, so that others may look at it without the lock

void add(int amount) {
  lock.lock();
  balance.store(balance.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  lock.unlock();
}

int main(int argc, char**) {
  if (argc > 1) on_unlock = std::memory_order_release;
  std::thread in([] { add(50); }), out([] { add(-30); });
  in.join();
  out.join();
  assert(balance == 120);
}
