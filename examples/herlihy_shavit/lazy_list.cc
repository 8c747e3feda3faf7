// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the lazy list: a node is marked before it is
// taken out, so it is enough to look at two nodes again. The fault: nobody looks at the marks.
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
  std::atomic<bool> marked;
  std::mutex lock;
};

struct LazyList {
  Node tail{INT_MAX, nullptr, false, {}}, head{INT_MIN, &tail, false, {}};

  static bool valid(Node* pred, Node* node) {
#ifndef FAULT
    if (pred->marked || node->marked) return false;
#endif
    return pred->next == node;
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
      node->marked = true;
      pred->next = node->next.load();
      return true;
    }
  }
  bool contains(int key) {
    Node* node = &head;
    while (node->key < key) node = node->next;
    return node->key == key && !node->marked;
  }
  bool reaches(Node* wanted) {
    Node* node = &head;
    while (node != nullptr && node != wanted) node = node->next;
    return node == wanted;
  }
};

LazyList list;
Node two{2, &list.tail, false, {}}, one{1, &two, false, {}}, three;

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
  assert(!list.reaches(&one) && !list.reaches(&two));
}
