// SPDX-License-Identifier: Apache-2.0
//
// Two threads with three atomic updates each: 6! / (3! 3!) orders.
//
// EXPECT-VERIFY: 20 none
#include <atomic>
#include <thread>

std::atomic<int> x{0};

int main() {
  auto body = [] {
    for (int i = 0; i < 3; ++i) ++x;
  };
  std::thread first(body), second(body);
  first.join();
  second.join();
  return x == 6 ? 0 : 1;
}
