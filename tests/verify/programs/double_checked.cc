// SPDX-License-Identifier: Apache-2.0
//
// Double-checked initialisation, published before it is complete: who does not take the lock may read too early.
//
// EXPECT-VERIFY: 6 race instance
// EXPECT-VERIFY: 6 race Thing::value
// EXPECT-VERIFY: 6 failure assertion
#include <cassert>
#include <mutex>
#include <thread>

struct Thing {
  int value = 0;
};

std::mutex lock;
Thing* instance = nullptr;

Thing* get() {
  if (instance == nullptr) {
    std::lock_guard guard(lock);
    if (instance == nullptr) {
      instance = new Thing;
      instance->value = 7;
    }
  }
  return instance;
}

int main() {
  std::thread other([] { assert(get()->value == 7); });
  assert(get()->value == 7);
  other.join();
  delete instance;
}
