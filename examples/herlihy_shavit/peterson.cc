// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the Peterson lock. The fault: it steps back
// before it has said that it wants to enter.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct Peterson {
  std::atomic<bool> flag[2] = {};
  std::atomic<int> victim{0};

  void lock(int me) {
#ifndef FAULT
    flag[me] = true;
    victim = me;
#else
    victim = me;
    flag[me] = true;
#endif
    while (flag[1 - me] && victim == me) {
    }
  }
  void unlock(int me) { flag[me] = false; }
};

int main() {
  return threads_count<Peterson>();
}
