// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the MCS queue lock. The fault: whoever comes
// second does not wait to be let in.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT race counter
#include <atomic>

#include "critical_section.h"

struct McsLock {
  struct Node {
    std::atomic<bool> locked{false};
    std::atomic<Node*> next{nullptr};
  };
  Node nodes[THREADS];
  std::atomic<Node*> tail{nullptr};

  void lock(int me) {
    Node* node = &nodes[me];
    Node* before = tail.exchange(node);
    if (before == nullptr) return;
    node->locked = true;
    before->next = node;
#ifndef FAULT
    while (node->locked) {
    }
#endif
  }
  void unlock(int me) {
    Node* node = &nodes[me];
    if (node->next == nullptr) {
      Node* last = node;
      if (tail.compare_exchange_strong(last, nullptr)) return;
      while (node->next == nullptr) {
      }
    }
    node->next.load()->locked = false;
  }
};

int main() {
  return threads_count<McsLock>();
}
