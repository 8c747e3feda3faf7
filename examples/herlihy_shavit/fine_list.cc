// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: a sorted list with a lock in each node, taken
// hand over hand. The fault: remove() locks the node before, not the one that goes; two neighbours that go at
// the same time, and one of them stays.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 2 none
// VERIFY-FAULT: -DFAULT race *next*
// OPT: -O2
#include <climits>
#include <mutex>

#include "two_threads.h"

struct Node {
  int key;
  Node* next;
  std::mutex lock;
};

struct FineList {
  Node tail{INT_MAX, nullptr, {}}, head{INT_MIN, &tail, {}};

#ifndef FAULT
  /// The node before the key, and the one after that: both locked.
  Node* lock_before(int key) {
    Node* pred = &head;
    pred->lock.lock();
    Node* node = pred->next;
    node->lock.lock();
    while (node->key < key) {
      pred->lock.unlock();
      pred = node;
      node = node->next;
      node->lock.lock();
    }
    return pred;
  }
  static void unlock(Node* pred, Node* node) {
    node->lock.unlock();
    pred->lock.unlock();
  }
#else
  Node* lock_before(int key) {
    Node* pred = &head;
    pred->lock.lock();
    while (pred->next->key < key) {
      Node* next = pred->next;
      pred->lock.unlock();
      next->lock.lock();
      pred = next;
    }
    return pred;
  }
  static void unlock(Node* pred, Node*) { pred->lock.unlock(); }
#endif
  bool remove(int key) {
    Node* pred = lock_before(key);
    Node* node = pred->next;
    bool there = node->key == key;
    if (there) pred->next = node->next;
    unlock(pred, node);
    return there;
  }
  bool contains(int key) {
    Node* node = &head;
    while (node->key < key) node = node->next;
    return node->key == key;
  }
};

FineList list;
Node two{2, &list.tail, {}}, one{1, &two, {}};

int main() {
  list.head.next = &one;
  bool first = false, second = false;
  two_threads([&] { first = list.remove(1); }, [&] { second = list.remove(2); });
  assert(first && second);
  assert(!list.contains(1) && !list.contains(2));
}
