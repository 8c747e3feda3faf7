// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, figure 1: z races; x does not, because thread 2 reads it only after it has seen y == 1
// under the lock. A hybrid detector reports both; happens-before reports z alone.
//
// EXPECT-RACE: z
// SUITE: fast
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0, z = 0;
std::mutex lock;
int first_done = 0;

int main() {
  bool error1 = false, error2 = false;
  std::thread first([&] {
    invisible_start(2);
    x = 1;
    lock.lock();
    y = 1;
    lock.unlock();
    if (z == 1) error1 = true;
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    // Thread 1 first: its lock then orders x, and it does not reach ERROR1.
    invisible_wait(&first_done, 1);
    z = 1;
    lock.lock();
    if (y == 1) {
      if (x != 1) error2 = true;
    }
    lock.unlock();
  });
  first.join();
  second.join();
  return error1 || error2 ? 1 : 0;
}
