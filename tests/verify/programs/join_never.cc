// SPDX-License-Identifier: Apache-2.0
//
// A detached thread, whose work is read all the same.
//
// EXPECT-VERIFY: * race x
// VERIFY-FIX: make x atomic
#include <thread>

int x = 0;

int main() {
  std::thread([] { x = 1; }).detach();
  int seen = x;
  return seen == 7;
}
