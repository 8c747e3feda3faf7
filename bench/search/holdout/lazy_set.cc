// SPDX-License-Identifier: Apache-2.0
//
// A sorted list with a lock in each node. Who inserts finds two neighbours without locks, locks the first,
// and has to look again: without that, an insertion behind a node that was removed meanwhile is lost.
//
// BUG lazy_set: -DNO_VALIDATION
// CORRECT lazy_set_validated: -DVALIDATION
#include "../programs/parallel.h"

struct Node {
  int key;
  std::atomic<Node*> next;
  std::atomic<bool> removed{false};
  std::mutex lock{};
};

static Node last{9, nullptr}, middle{5, &last}, first{0, &middle}, added{7, nullptr};

static bool is_current([[maybe_unused]] Node* before, [[maybe_unused]] Node* after) {
#ifdef VALIDATION
  return !before->removed && before->next == after;
#else
  return true;
#endif
}

static void insert() {
  for (;;) {
    Node* before = &first;
    Node* after = before->next;
    while (after->key < added.key) {
      before = after;
      after = before->next;
    }
    Guard guard(before->lock);
    if (!is_current(before, after)) continue;
    added.next = after;
    before->next = &added;
    return;
  }
}

static void remove_middle() {
  Guard guard(first.lock);
  Guard inner(middle.lock);
  middle.removed = true;
  first.next = middle.next.load();
}

int main() {
  in_parallel(insert, remove_middle);
  bool found = false;
  for (Node* node = &first; node != nullptr; node = node->next) found |= node == &added;
  assert(found);
}
