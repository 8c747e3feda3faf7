// SPDX-License-Identifier: Apache-2.0
//
// Two locks in two orders: one after the other, either way, or both wait.
//
// EXPECT-VERIFY: 3 failure deadlock
#include <mutex>
#include <thread>

std::mutex a, b;

int main() {
  std::thread first([] {
    std::lock_guard one(a);
    std::lock_guard two(b);
  });
  std::thread second([] {
    std::lock_guard one(b);
    std::lock_guard two(a);
  });
  first.join();
  second.join();
}
