// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the lock-free queue of Michael and Scott. The
// fault: the head is stored, not compared and swapped, so two threads can take the same item.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 60 none
// VERIFY-FAULT: -DFAULT failure assertion
// OPT: -O2
#include <atomic>

#include "two_threads.h"

struct Node {
  int value;
  std::atomic<Node*> next;
};

class LockFreeQueue {
 public:
  void enq(Node* node, int value) {
    node->value = value;
    for (;;) {
      Node* last = tail_;
      Node* next = last->next;
      if (last != tail_) continue;
      if (next != nullptr) {
        tail_.compare_exchange_strong(last, next);
      } else if (last->next.compare_exchange_strong(next, node)) {
        tail_.compare_exchange_strong(last, node);
        return;
      }
    }
  }
  /// 0: empty.
  int deq() {
    for (;;) {
      Node* first = head_;
      Node* last = tail_;
      Node* next = first->next;
      if (first != head_) continue;
      if (first == last) {
        if (next == nullptr) return 0;
        tail_.compare_exchange_strong(last, next);
        continue;
      }
      int value = next->value;
#ifndef FAULT
      if (head_.compare_exchange_strong(first, next)) return value;
#else
      head_ = next;
      return value;
#endif
    }
  }

 private:
  Node sentinel_{0, nullptr};
  std::atomic<Node*> head_{&sentinel_}, tail_{&sentinel_};
};

LockFreeQueue queue;
Node one, two;

int main() {
  queue.enq(&one, 1);
  int first = 0, second = 0, third = 0;
  two_threads(
      [&] {
        first = queue.deq();
        second = queue.deq();
      },
      [&] {
        queue.enq(&two, 2);
        third = queue.deq();
      });
  int rest = queue.deq();
  auto times = [&](int value) {
    return (first == value) + (second == value) + (third == value) + (rest == value);
  };
  assert(times(1) == 1 && times(2) == 1);
  assert(queue.deq() == 0);
}
