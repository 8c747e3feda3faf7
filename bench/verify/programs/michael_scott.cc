// SPDX-License-Identifier: Apache-2.0
//
// The queue of Michael and Scott: N threads put a node each.
//
// EXECUTIONS: sc 1: 1, 2: 16
// EXECUTIONS: rf 1: 1, 2: 16
// SOURCE: brute force (brute_force.py)
#include "threads.h"

struct Node {
  std::atomic<Node*> next{nullptr};
};
Node nodes[8];
std::atomic<Node*> tail{&nodes[0]};

int main(int argc, char** argv) {
  together(number(argc, argv, 2), [](int thread) {
    Node* mine = &nodes[thread + 1];
    for (;;) {
      Node* last = tail.load();
      Node* next = last->next.load();
      if (next != nullptr) {
        tail.compare_exchange_strong(last, next);
      } else if (last->next.compare_exchange_strong(next, mine)) {
        tail.compare_exchange_strong(last, mine);
        return;
      }
    }
  });
}
