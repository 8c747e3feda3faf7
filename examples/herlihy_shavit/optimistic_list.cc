// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: a sorted list that is searched without locks;
// what was found is locked and then looked at again. The fault: it is not looked at again.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 11 none
// VERIFY-FAULT: -DFAULT failure assertion
// OPT: -O2
#include <atomic>
#include <climits>
#include <mutex>

#include "two_threads.h"

struct Node {
  int key;
  std::atomic<Node*> next;
  std::mutex lock;
};

struct OptimisticList {
  Node tail{INT_MAX, nullptr, {}}, head{INT_MIN, &tail, {}};

  bool valid(Node* pred, Node* node) {
#ifndef FAULT
    Node* at = &head;
    while (at->key < pred->key) at = at->next;
    return at == pred && pred->next == node;
#else
    (void)pred, (void)node;
    return true;
#endif
  }
  bool add(Node* fresh, int key) {
    fresh->key = key;
    for (;;) {
      Node* pred = &head;
      Node* node = pred->next;
      while (node->key < key) {
        pred = node;
        node = node->next;
      }
      std::lock_guard first(pred->lock);
      std::lock_guard second(node->lock);
      if (!valid(pred, node)) continue;
      if (node->key == key) return false;
      fresh->next.store(node, std::memory_order_relaxed);
      pred->next = fresh;
      return true;
    }
  }
  bool remove(int key) {
    for (;;) {
      Node* pred = &head;
      Node* node = pred->next;
      while (node->key < key) {
        pred = node;
        node = node->next;
      }
      std::lock_guard first(pred->lock);
      std::lock_guard second(node->lock);
      if (!valid(pred, node)) continue;
      if (node->key != key) return false;
      pred->next = node->next.load();
      return true;
    }
  }
  bool contains(int key) {
    Node* node = &head;
    while (node->key < key) node = node->next;
    return node->key == key;
  }
};

OptimisticList list;
Node two{2, &list.tail, {}}, one{1, &two, {}}, three;

int main() {
  list.head.next = &one;
  bool first = false, second = false, third = false;
  two_threads(
      [&] {
        first = list.remove(1);
        (void)list.contains(3);
      },
      [&] {
        second = list.remove(2);
        third = list.add(&three, 3);
      });
  assert(first && second && third && list.contains(3));
  assert(!list.contains(1) && !list.contains(2));
}
