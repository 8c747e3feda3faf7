// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the array lock. The fault: a slot is taken in
// two steps.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-ALSO: -DTHREADS=3 24 none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct ArrayLock {
  std::atomic<int> tail{0};
  std::atomic<bool> open[THREADS] = {true};
  int slot[THREADS] = {};

  void lock(int me) {
#ifndef FAULT
    slot[me] = tail.fetch_add(1) % THREADS;
#else
    slot[me] = tail.load() % THREADS;
    tail = tail + 1;
#endif
    while (!open[slot[me]]) {
    }
  }
  void unlock(int me) {
    open[slot[me]] = false;
    open[(slot[me] + 1) % THREADS] = true;
  }
};

int main() {
  return threads_count<ArrayLock>();
}
