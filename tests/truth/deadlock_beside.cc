// SPDX-License-Identifier: Apache-2.0
//
// Two locks taken in opposite orders, beside a counter: the deadlock has nothing to do with the race.
//
// truth: operations harmless beside other: the deadlock comes from the order of the locks
#include <mutex>
#include <thread>

std::mutex a, b;
int operations = 0;

int main() {
  std::thread first([] {
    ++operations;
    std::lock_guard outer(a);
    std::lock_guard inner(b);
  });
  std::thread second([] {
    ++operations;
    std::lock_guard outer(b);
    std::lock_guard inner(a);
  });
  first.join();
  second.join();
  return 0;
}
