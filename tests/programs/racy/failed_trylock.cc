// SPDX-License-Identifier: Apache-2.0
//
// A try that fails orders nothing.
//
// EXPECT-RACE: shared write-read
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int shared = 0;
std::mutex mutex;
int step = 0, end = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    shared = 1;
    mutex.lock();
    invisible_signal(&step);
    invisible_wait(&end, 1);
    mutex.unlock();
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    if (!mutex.try_lock()) seen = shared;
    invisible_signal(&end);
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
