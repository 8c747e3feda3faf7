// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the filter lock, made for three threads. Two go
// through its two levels. The fault: whoever comes to a level steps back before it has said that it is there.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
// OPT: -O2
#include <atomic>

#include "critical_section.h"

constexpr int kThreads = 3;

struct Filter {
  std::atomic<int> level[kThreads] = {};
  std::atomic<int> victim[kThreads] = {};

  bool somebody(int me, int at) {
    for (int k = 0; k < kThreads; ++k) {
      if (k != me && level[k] >= at) return true;
    }
    return false;
  }
  void lock(int me) {
    for (int i = 1; i < kThreads; ++i) {
#ifndef FAULT
      level[me] = i;
      victim[i] = me;
#else
      victim[i] = me;
      level[me] = i;
#endif
      while (victim[i] == me && somebody(me, i)) {
      }
    }
  }
  void unlock(int me) { level[me] = 0; }
};

int main() {
  return threads_count<Filter>();
}
