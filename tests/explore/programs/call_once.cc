// SPDX-License-Identifier: Apache-2.0
//
// std::call_once, a static local, and double-checked initialisation with the flag last.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

std::atomic<int> made{0};
std::once_flag once;
int by_once = 0;
std::mutex lock;
std::atomic<int*> checked{nullptr};
int storage = 0;

int make(int value) {
  ++made;
  return value;
}

void use() {
  std::call_once(once, [] { by_once = make(1); });
  static int local = make(2);
  if (checked.load(std::memory_order_acquire) == nullptr) {
    std::lock_guard guard(lock);
    if (checked.load(std::memory_order_relaxed) == nullptr) {
      storage = make(3);
      checked.store(&storage, std::memory_order_release);
    }
  }
  assert(by_once == 1 && local == 2 && *checked.load(std::memory_order_acquire) == 3);
}

int main() {
  std::thread first(use), second(use), third(use);
  first.join();
  second.join();
  third.join();
  assert(made == 3);
}
