// SPDX-License-Identifier: Apache-2.0
//
// An atomic that is read and written in two steps, without preemptions: nothing is lost, and the answer says
// what was left out.
//
// EXPECT-VERIFY: 2 none
// VERIFY-FLAGS: --preemptions 0
// VERIFY-BOUND
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> count{0};

int main() {
  auto body = [] { count = count + 1; };
  std::thread first(body), second(body);
  first.join();
  second.join();
  assert(count == 2);
}
