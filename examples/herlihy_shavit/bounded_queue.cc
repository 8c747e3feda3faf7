// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the bounded queue with a lock and a condition at
// each end. The fault: who was waited for says so without the waiter's lock, and is not heard.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 24 none
// VERIFY-FAULT: -DFAULT failure deadlock
// VERIFY-ASSUMES: waits end only by signals
// OPT: -O2
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "two_threads.h"

struct Node {
  int value;
  std::atomic<Node*> next;
};

class BoundedQueue {
 public:
  void enq(Node* node, int value) {
    node->value = value;
    bool was_empty;
    {
      std::unique_lock guard(enq_lock_);
      while (size_ == kCapacity) not_full_.wait(guard);
      tail_->next = node;
      tail_ = node;
      was_empty = size_.fetch_add(1) == 0;
    }
    if (was_empty) wake(deq_lock_, not_empty_);
  }
  int deq() {
    int value;
    bool was_full;
    {
      std::unique_lock guard(deq_lock_);
      while (size_ == 0) not_empty_.wait(guard);
      Node* first = head_->next;
      value = first->value;
      head_ = first;
      was_full = size_.fetch_sub(1) == kCapacity;
    }
    if (was_full) wake(enq_lock_, not_full_);
    return value;
  }

 private:
  static constexpr int kCapacity = 1;

  static void wake(std::mutex& lock, std::condition_variable& condition) {
#ifndef FAULT
    std::lock_guard guard(lock);
#else
    (void)lock;
#endif
    condition.notify_all();
  }

  std::mutex enq_lock_, deq_lock_;
  std::condition_variable not_full_, not_empty_;
  std::atomic<int> size_{0};
  Node sentinel_{0, nullptr};
  Node* head_ = &sentinel_;
  Node* tail_ = &sentinel_;
};

BoundedQueue queue;
Node one, two;

int main() {
  int first = 0, second = 0;
  two_threads(
      [] {
        queue.enq(&one, 1);
        queue.enq(&two, 2);
      },
      [&] {
        first = queue.deq();
        second = queue.deq();
      });
  assert(first == 1 && second == 2);
}
