// SPDX-License-Identifier: Apache-2.0
//
// libstdc++ 12 unlocks with a relaxed store after atomic<shared_ptr>::load, so its read of the pointer is
// not ordered before the next store's write: a real race in the library, found in its header.
//
// EXPECT-RACE: current|*_M_ptr read-write
#include <atomic>
#include <memory>
#include <thread>

#include "invisible_barrier.h"

std::atomic<std::shared_ptr<int>> current;
int loaded = 0;

int main() {
  current.store(std::make_shared<int>(1));
  int seen = 0;
  std::thread reader([&seen] {
    invisible_start(2);
    seen = *current.load();
    invisible_signal(&loaded);
  });
  std::thread writer([] {
    invisible_start(2);
    invisible_wait(&loaded, 1);
    current.store(std::make_shared<int>(2));
  });
  reader.join();
  writer.join();
  return seen == 1 ? 0 : 1;
}
