// SPDX-License-Identifier: Apache-2.0
//
// std::latch is made of an atomic and of waiting for it.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: *
#include <latch>
#include <thread>

std::latch latch(1);
int value = 0;

int main() {
  std::thread other([] {
    value = 1;
    latch.count_down();
  });
  latch.wait();
  int seen = value;
  other.join();
  return seen == 1 ? 0 : 1;
}
