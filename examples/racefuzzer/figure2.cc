// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, figure 2: a race that is hard to see, because it is apart in time and thread 2's lock hides it
// whenever thread 2 comes first. Exit code 1 is ERROR.
//
// The argument is the number of statements before the racing read; each is an atomic operation, where the
// scheduler could switch. With "ordered", thread 1 gets the lock first and thread 2 writes before thread 1
// reads.
//
// EXPECT-RACE: x write-read
// RUN-ARGS: ordered
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "invisible_barrier.h"

int x = 0;
std::mutex lock;
int written = 0, unlocked = 0;
std::atomic<int> work_done{0};

void f() {
  work_done.fetch_add(1, std::memory_order_relaxed);
}

int main(int count, char** arguments) {
  const bool ordered = count > 1 && arguments[1] == std::string("ordered");
  const int statements = count > 1 && !ordered ? std::atoi(arguments[1]) : 5;
  bool error = false;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    lock.lock();
    for (int i = 0; i < statements; ++i) f();
    lock.unlock();
    if (ordered) invisible_signal(&unlocked);
    if (ordered) invisible_wait(&written, 1);
    if (x == 0) error = true;  // @8
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    x = 1;  // @10
    if (ordered) invisible_signal(&written);
    if (ordered) invisible_wait(&unlocked, 1);
    lock.lock();
    f();
    lock.unlock();
  });
  first.join();
  second.join();
  if (work_done != statements + 1) return 2;
  return error ? 1 : 0;
}
