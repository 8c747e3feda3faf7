// SPDX-License-Identifier: Apache-2.0
//
// Each thread holds a lock, but not the same one.
//
// EXPECT-RACE: shared write-write
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int shared = 0;
std::mutex a, b;
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    {
      std::lock_guard lock(a);
      shared++;
    }
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    std::lock_guard lock(b);
    shared++;
  });
  one.join();
  two.join();
  return shared == 2 ? 0 : 1;
}
