// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the CLH queue lock. The fault: the own node is
// not locked before it is put into the queue.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-ALSO: -DTHREADS=3 24 none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct ClhLock {
  struct Node {
    std::atomic<bool> locked{false};
  };
  Node nodes[THREADS + 1];
  std::atomic<Node*> tail{&nodes[THREADS]};
  Node* mine[THREADS];
  Node* before[THREADS] = {};

  ClhLock() {
    for (int i = 0; i < THREADS; ++i) mine[i] = &nodes[i];
  }

  void lock(int me) {
#ifndef FAULT
    mine[me]->locked = true;
#endif
    before[me] = tail.exchange(mine[me]);
    while (before[me]->locked) {
    }
  }
  void unlock(int me) {
    mine[me]->locked = false;
    mine[me] = before[me];
  }
};

int main() {
  return threads_count<ClhLock>();
}
