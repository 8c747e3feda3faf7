// SPDX-License-Identifier: Apache-2.0
//
// The lock of Mellor-Crummey and Scott, taken once by each of N threads.
//
// EXECUTIONS: sc 2: 14, 3: 438
// EXECUTIONS: rf 2: 14
// SOURCE: brute force (brute_force.py)
#include "threads.h"

struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<int> waits{1};
};
Node nodes[8];
std::atomic<Node*> tail;
int counter;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(n, [](int self) {
    Node& mine = nodes[self];
    if (Node* before = tail.exchange(&mine)) {
      before->next.store(&mine);
      while (mine.waits.load() == 1) {
      }
    }
    ++counter;
    Node* last = &mine;
    if (mine.next.load() == nullptr) {
      if (tail.compare_exchange_strong(last, nullptr)) return;
      while (mine.next.load() == nullptr) {
      }
    }
    mine.next.load()->waits.store(0);
  });
  return counter == n ? 0 : 1;
}
