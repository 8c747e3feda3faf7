// SPDX-License-Identifier: Apache-2.0
//
// What a thread leaves is read before it is joined.
//
// EXPECT-VERIFY: 2 race result
// VERIFY-FIX: join worker before join_before.cc:
#include <thread>

int result = 0;

int main() {
  std::thread worker([] { result = 42; });
  int seen = result;
  worker.join();
  return seen == 7;
}
