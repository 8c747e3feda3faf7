// SPDX-License-Identifier: Apache-2.0
//
// Treiber's stack: N threads push a node each, one more pops once.
//
// EXECUTIONS: sc 1: 2, 2: 20, 3: 600
// EXECUTIONS: rf 1: 2, 2: 20
// SOURCE: brute force (brute_force.py)
#include "threads.h"

struct Node {
  Node* next = nullptr;
};
Node nodes[8];
std::atomic<Node*> top;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(n + 1, [n](int thread) {
    if (thread < n) {
      Node& mine = nodes[thread];
      mine.next = top.load();
      while (!top.compare_exchange_strong(mine.next, &mine)) {
      }
      return;
    }
    Node* first = top.load();
    while (first != nullptr && !top.compare_exchange_strong(first, first->next)) {
    }
  });
}
