// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: Treiber's lock-free stack. The fault: the top is
// stored, not compared and swapped, so two threads can take the same item.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 44 none
// VERIFY-FAULT: -DFAULT failure assertion
// OPT: -O2
#include <atomic>

#include "two_threads.h"

struct Node {
  int value;
  Node* next;
};

class TreiberStack {
 public:
  void push(Node* node, int value) {
    node->value = value;
    Node* old = top_;
    do node->next = old;
    while (!top_.compare_exchange_strong(old, node));
  }
  /// 0: empty.
  int pop() {
    for (;;) {
      Node* old = top_;
      if (old == nullptr) return 0;
#ifndef FAULT
      if (top_.compare_exchange_strong(old, old->next)) return old->value;
#else
      top_ = old->next;
      return old->value;
#endif
    }
  }

 private:
  std::atomic<Node*> top_{nullptr};
};

TreiberStack stack;
Node one, two;

int main() {
  int first = 0, second = 0;
  two_threads(
      [&] {
        stack.push(&one, 1);
        first = stack.pop();
      },
      [&] {
        stack.push(&two, 2);
        second = stack.pop();
      });
  assert(first + second == 3 && first != second);
  assert(stack.pop() == 0);
}
