// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: test, test-and-set. The fault: the second test
// is forgotten.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct TestTestAndSet {
  std::atomic<bool> held{false};

  void lock(int) {
    for (;;) {
      while (held) {
      }
#ifndef FAULT
      if (!held.exchange(true)) return;
#else
      held.exchange(true);
      return;
#endif
    }
  }
  void unlock(int) { held = false; }
};

int main() {
  return threads_count<TestTestAndSet>();
}
