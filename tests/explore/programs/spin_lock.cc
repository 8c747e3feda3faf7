// SPDX-License-Identifier: Apache-2.0
//
// A spin lock that yields, and one that does not.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <thread>

template <bool kYields>
class SpinLock {
 public:
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) {
      if (kYields) std::this_thread::yield();
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

SpinLock<true> polite;
SpinLock<false> rude;
int politely = 0, rudely = 0;

void count() {
  for (int i = 0; i < 3; ++i) {
    polite.lock();
    ++politely;
    polite.unlock();
    rude.lock();
    ++rudely;
    rude.unlock();
  }
}

int main() {
  std::thread first(count), second(count), third(count);
  first.join();
  second.join();
  third.join();
  assert(politely == 9 && rudely == 9);
}
