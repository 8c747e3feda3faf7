// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: test-and-set. The fault: it tests, then sets.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-ALSO: -DTHREADS=3 60 none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct TestAndSet {
  std::atomic<bool> held{false};

  void lock(int) {
#ifndef FAULT
    while (held.exchange(true)) {
    }
#else
    while (held) {
    }
    held = true;
#endif
  }
  void unlock(int) { held = false; }
};

int main() {
  return threads_count<TestAndSet>();
}
