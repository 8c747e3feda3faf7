// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the array lock. The fault: a slot is taken in
// two steps.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct ArrayLock {
  std::atomic<int> tail{0};
  std::atomic<bool> open[2] = {true, false};
  int slot[2] = {};

  void lock(int me) {
#ifndef FAULT
    slot[me] = tail.fetch_add(1) % 2;
#else
    slot[me] = tail.load() % 2;
    tail = tail + 1;
#endif
    while (!open[slot[me]]) {
    }
  }
  void unlock(int me) {
    open[slot[me]] = false;
    open[(slot[me] + 1) % 2] = true;
  }
};

int main() {
  return two_threads_count<ArrayLock>();
}
