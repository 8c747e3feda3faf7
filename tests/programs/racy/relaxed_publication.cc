// SPDX-License-Identifier: Apache-2.0
//
// A relaxed flag carries no order: the data it announces races.
//
// EXPECT-RACE: data write-read
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

int data = 0;
std::atomic<int> flag = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    data = 1;
    flag.store(1, std::memory_order_relaxed);
  });
  std::thread two([&seen] {
    invisible_start(2);
    while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
    seen = data;
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
