// SPDX-License-Identifier: Apache-2.0
//
// A try comes before the lock, while it is held, or after it. No atomics: under rc11 there is nothing more.
//
// EXPECT-VERIFY: 3 none
// VERIFY-RC11: 3
#include <cassert>
#include <mutex>
#include <thread>

std::mutex m;
int value = 0;

int main() {
  std::thread other([] {
    std::lock_guard guard(m);
    ++value;
  });
  if (m.try_lock()) {
    ++value;
    m.unlock();
  }
  other.join();
  assert(value == 1 || value == 2);
}
