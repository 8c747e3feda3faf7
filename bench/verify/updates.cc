// SPDX-License-Identifier: Apache-2.0
//
// Two threads with seven updates of one variable each, as a whole program for `duress verify`: 3,432
// interleavings.
#include <atomic>
#include <thread>

int main() {
  std::atomic<int> x{0};
  auto body = [&] {
    for (int k = 0; k < 7; ++k) x.fetch_add(1);
  };
  std::thread first(body), second(body);
  first.join();
  second.join();
  return x == 14 ? 0 : 1;
}
