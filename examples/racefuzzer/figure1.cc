// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, figure 1: z races; x does not, because thread 2 reads it only after it has seen y == 1
// under the lock. A hybrid detector reports both; happens-before reports z alone.
//
// The exit code says which error was reached. With an argument, thread 1 goes first in every run: its lock
// then orders x, it does not reach ERROR1, and the race on z is there to be seen.
//
// EXPECT-RACE: z
// RUN-ARGS: ordered
// SUITE: fast
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0, z = 0;
std::mutex lock;
int first_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  bool error1 = false, error2 = false;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    x = 1;  // @1
    lock.lock();
    y = 1;
    lock.unlock();
    if (z == 1) error1 = true;  // @5
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    z = 1;  // @7
    lock.lock();
    if (y == 1) {
      if (x != 1) error2 = true;  // @10
    }
    lock.unlock();
  });
  first.join();
  second.join();
  return (error1 ? 1 : 0) + (error2 ? 2 : 0);
}
