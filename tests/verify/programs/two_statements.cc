// SPDX-License-Identifier: Apache-2.0
//
// Read and written in two statements: an atomic counter has no race, but loses an update. That is no fix; a mutex is.
//
// EXPECT-VERIFY: 4 race counter
// EXPECT-VERIFY: 4 failure assertion
// VERIFY-FIX: add a mutex for counter
#include <cassert>
#include <thread>

int counter = 0;

int main() {
  auto body = [] {
    int seen = counter;
    counter = seen + 1;
  };
  std::thread first(body), second(body);
  first.join();
  second.join();
  assert(counter == 2);
}
