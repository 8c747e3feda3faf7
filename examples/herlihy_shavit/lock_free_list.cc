// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: the lock-free list (Harris, Michael). A pointer
// and the mark of the node that holds it change in one step. The fault: a node is taken out without being
// marked, and what another thread puts behind it is lost.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: 17 none
// VERIFY-FAULT: -DFAULT failure assertion
// OPT: -O2
#include <atomic>
#include <climits>
#include <cstdint>

#include "two_threads.h"

struct Node {
  int key;
  std::atomic<std::uintptr_t> next;  // with the mark in its lowest bit
};

Node* node_of(std::uintptr_t link) {
  return reinterpret_cast<Node*>(link & ~std::uintptr_t{1});
}
bool marked(std::uintptr_t link) {
  return (link & 1) != 0;
}
std::uintptr_t link_to(Node* node) {
  return reinterpret_cast<std::uintptr_t>(node);
}

struct LockFreeList {
  Node tail{INT_MAX, 0}, head{INT_MIN, 0};

  struct Place {
    Node *pred, *node;
  };
  /// Takes out marked nodes on its way.
  Place find(int key) {
    for (;;) {
      Node* pred = &head;
      Node* node = node_of(pred->next);
      bool again = false;
      while (!again) {
        std::uintptr_t next = node->next;
        if (marked(next)) {
          std::uintptr_t expected = link_to(node);
          again = !pred->next.compare_exchange_strong(expected, link_to(node_of(next)));
          node = node_of(next);
          continue;
        }
        if (node->key >= key) return {pred, node};
        pred = node;
        node = node_of(next);
      }
    }
  }
  bool add(Node* fresh, int key) {
    fresh->key = key;
    for (;;) {
      auto [pred, node] = find(key);
      if (node->key == key) return false;
      fresh->next.store(link_to(node), std::memory_order_relaxed);
      std::uintptr_t expected = link_to(node);
      if (pred->next.compare_exchange_strong(expected, link_to(fresh))) return true;
    }
  }
  bool remove(int key) {
    for (;;) {
      auto [pred, node] = find(key);
      if (node->key != key) return false;
      std::uintptr_t next = node->next;
#ifndef FAULT
      if (marked(next) || !node->next.compare_exchange_strong(next, next | 1)) continue;
#endif
      std::uintptr_t expected = link_to(node);
      pred->next.compare_exchange_strong(expected, next);
      return true;
    }
  }
  bool contains(int key) {
    Node* node = &head;
    while (node->key < key) node = node_of(node->next);
    return node->key == key && !marked(node->next);
  }
};

LockFreeList list;
Node one, two;

int main() {
  list.tail.next = link_to(nullptr);
  list.head.next = link_to(&list.tail);
  list.add(&one, 1);
  bool removed = false, added = false, other = false;
  two_threads(
      [&] {
        removed = list.remove(1);
        other = list.remove(3);
      },
      [&] { added = list.add(&two, 2); });
  assert(removed && added && !other);
  assert(!list.contains(1) && list.contains(2));
}
