// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the bakery lock. The fault: nobody says that he
// is choosing a number.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct Bakery {
  std::atomic<bool> choosing[2] = {};
  std::atomic<int> number[2] = {};

  void lock(int me) {
    int other = 1 - me;
#ifndef FAULT
    choosing[me] = true;
#endif
    number[me] = number[other] + 1;
    choosing[me] = false;
    while (choosing[other]) {
    }
    for (;;) {
      int his = number[other];
      if (his == 0 || his > number[me] || (his == number[me] && other > me)) return;
    }
  }
  void unlock(int me) { number[me] = 0; }
};

int main() {
  return threads_count<Bakery>();
}
