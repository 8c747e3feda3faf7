// SPDX-License-Identifier: Apache-2.0
//
// The first access lies thousands of synchronisations back: it must not have been forgotten.
//
// EXPECT-RACE: old write-read @then @now
// OTHER-TOOLS: differ (ThreadSanitizer has forgotten the first access)
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int old = 0;
int step = 0;
std::mutex own, other;
long filler[4096];

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    old = 1;  // @then
    for (int i = 0; i < 20000; i++) {
      std::lock_guard lock(own);
      filler[i % 4096]++;
    }
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    for (int i = 0; i < 20000; i++) std::lock_guard lock(other);
    invisible_wait(&step, 1);
    seen = old;  // @now
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
