// SPDX-License-Identifier: Apache-2.0
//
// An atomic that is read and written in two steps. Of four classes two lose an update.
//
// EXPECT-VERIFY: 4 failure assertion
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
