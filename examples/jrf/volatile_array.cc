// SPDX-License-Identifier: Apache-2.0
//
// Java RaceFinder, volatile array: in Java `volatile boolean[]` makes the reference volatile, not the
// elements. The same mistake in C++: an atomic pointer to plain flags.
//
// EXPECT-RACE: *is_done*|heap block*|*flags* write-read @finish @look
// VERIFY-FIX: make the elements of heap block
// EXPECT-VERIFY: * race *is_done*|heap block*|*flags*
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

std::atomic<bool*> is_done;
int finished = 0;

int main() {
  is_done = new bool[4]();
  std::thread worker([] {
    invisible_start(2);
    bool* flags = is_done;
    flags[2] = true;  // @finish
    invisible_signal(&finished);
  });
  std::thread waiter([] {
    invisible_start(2);
    invisible_wait(&finished, 1);
    bool* flags = is_done;
    while (!flags[2]) std::this_thread::yield();  // @look
  });
  worker.join();
  waiter.join();
  delete[] is_done.load();
  return 0;
}
