// SPDX-License-Identifier: Apache-2.0
//
// Says in its exit code that it went wrong: the last writer should have been the second.
//
// EXPECT-FAILURE: exit:3
#include <atomic>
#include <thread>

std::atomic<int> last{0};

int main() {
  std::thread first([] { last = 1; });
  std::thread second([] { last = 2; });
  first.join();
  second.join();
  return last == 2 ? 0 : 3;
}
