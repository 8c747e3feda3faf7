// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, figure 2: a race that is hard to see, because it is apart in time and thread 2's lock hides it
// whenever thread 2 comes first. Here thread 1 gets the lock first.
//
// EXPECT-RACE: x write-read
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int x = 0;
std::mutex lock;
int written = 0, unlocked = 0;
int work_done = 0;

void f() { work_done++; }

int main() {
  bool error = false;
  std::thread first([&] {
    invisible_start(2);
    lock.lock();
    f(), f(), f(), f(), f();
    lock.unlock();
    invisible_signal(&unlocked);
    invisible_wait(&written, 1);
    if (x == 0) error = true;
  });
  std::thread second([] {
    invisible_start(2);
    x = 1;
    invisible_signal(&written);
    invisible_wait(&unlocked, 1);
    lock.lock();
    f();
    lock.unlock();
  });
  first.join();
  second.join();
  return error || work_done != 6 ? 1 : 0;
}
