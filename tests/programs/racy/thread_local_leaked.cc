// SPDX-License-Identifier: Apache-2.0
//
// The address of a thread_local handed to another thread.
//
// EXPECT-RACE: *
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

thread_local int mine = 0;
std::atomic<int*> leaked = nullptr;
int step = 0, end = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    leaked.store(&mine, std::memory_order_release);
    mine = 1;
    invisible_signal(&step);
    invisible_wait(&end, 1);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    *leaked.load(std::memory_order_acquire) = 2;
    invisible_signal(&end);
  });
  one.join();
  two.join();
  return 0;
}
