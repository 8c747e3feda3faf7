// SPDX-License-Identifier: Apache-2.0
//
// A loop waits for a plain flag: it ends only if other threads run meanwhile. The value is written after the
// flag.
//
// VERIFY-FLAGS: --no-advice
// EXPECT-VERIFY: 4 race flag
// EXPECT-VERIFY: 4 race value
// EXPECT-VERIFY: 4 failure assertion
#include <cassert>
#include <thread>

volatile bool flag = false;
int value = 0;

int main() {
  std::thread worker([] {
    flag = true;
    value = 1;
  });
  while (!flag) {
  }
  assert(value == 1);
  worker.join();
}
