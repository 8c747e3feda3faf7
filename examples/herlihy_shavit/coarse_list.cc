// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: a sorted list with one lock. The fault:
// contains() does not take it.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 3 none
// VERIFY-FAULT: -DFAULT race *key*|*next*|nodes*|list*
// OPT: -O2
#include <climits>
#include <mutex>

#include "two_threads.h"

struct Node {
  int key;
  Node* next;
};

struct CoarseList {
  Node tail{INT_MAX, nullptr}, head{INT_MIN, &tail};
  std::mutex lock;

  Node* before(int key) {
    Node* node = &head;
    while (node->next->key < key) node = node->next;
    return node;
  }
  bool add(Node* node) {
    std::lock_guard guard(lock);
    Node* pred = before(node->key);
    if (pred->next->key == node->key) return false;
    node->next = pred->next;
    pred->next = node;
    return true;
  }
  bool remove(int key) {
    std::lock_guard guard(lock);
    Node* pred = before(key);
    if (pred->next->key != key) return false;
    pred->next = pred->next->next;
    return true;
  }
  bool contains(int key) {
#ifndef FAULT
    std::lock_guard guard(lock);
#endif
    return before(key)->next->key == key;
  }
};

CoarseList list;
Node one{1, nullptr}, two{2, nullptr};

int main() {
  list.add(&one);
  bool removed = false, seen = true;
  two_threads([&] { removed = list.remove(1); },
              [&] {
                list.add(&two);
                seen = list.contains(2);
              });
  assert(removed && seen);
  assert(!list.contains(1) && list.contains(2));
}
