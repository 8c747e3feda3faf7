// SPDX-License-Identifier: Apache-2.0
//
// Herlihy and Shavit, The Art of Multiprocessor Programming: a stack in which a push and a pop that are in
// each other's way exchange the item and leave the stack alone. The fault: whoever gives up waiting there
// does not look whether somebody came, and the item is taken twice.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT failure assertion
// OPT: -O2
#include <atomic>

#include "two_threads.h"

struct Node {
  int value;
  Node* next;
};

/// One place at which two threads meet. Null is the offer of one who wants to pop.
class Exchanger {
 public:
  static constexpr int kTries = 1;

  /// Whether somebody came; then *mine is what the other one brought.
  bool exchange(int me, Node** mine) {
    Offer& offer = offers_[me];
    Offer* other = slot_;
    if (other == nullptr) {
      offer.item = *mine;
      offer.answer.store(&offer.none);
      if (!slot_.compare_exchange_strong(other, &offer)) return false;
      for (int i = 0; i < kTries; ++i) {
        if (offer.answer != &offer.none) break;
      }
      Offer* here = &offer;
#ifndef FAULT
      if (slot_.compare_exchange_strong(here, nullptr)) return false;
#else
      slot_.compare_exchange_strong(here, nullptr);
      return false;
#endif
      while (offer.answer == &offer.none) {
      }
      *mine = offer.answer;
      return true;
    }
    if (!slot_.compare_exchange_strong(other, nullptr)) return false;
    Node* theirs = other->item;
    other->answer = *mine;
    *mine = theirs;
    return true;
  }

 private:
  struct Offer {
    Node* item = nullptr;
    Node none{0, nullptr};
    std::atomic<Node*> answer{nullptr};
  };
  Offer offers_[2];
  std::atomic<Offer*> slot_{nullptr};
};

class EliminationStack {
 public:
  void push(int me, Node* node, int value) {
    node->value = value;
    for (;;) {
      Node* old = top_;
      node->next = old;
      if (top_.compare_exchange_strong(old, node)) return;
      Node* met = node;
      if (exchanger_.exchange(me, &met) && met == nullptr) return;
    }
  }
  /// 0: empty, and nobody was on the way to push.
  int pop(int me) {
    for (;;) {
      Node* old = top_;
      if (old != nullptr && top_.compare_exchange_strong(old, old->next)) return old->value;
      Node* met = nullptr;
      if (exchanger_.exchange(me, &met) && met != nullptr) return met->value;
      if (old == nullptr) return 0;
    }
  }

 private:
  std::atomic<Node*> top_{nullptr};
  Exchanger exchanger_;
};

EliminationStack stack;
Node one, two;

int main() {
  int first = 0, second = 0;
  two_threads([] { stack.push(0, &one, 1); },
              [&] {
                stack.push(1, &two, 2);
                first = stack.pop(1);
                second = stack.pop(1);
              });
  int rest = stack.pop(0);
  assert(first + second + rest == 3 && (first == 0) + (second == 0) + (rest == 0) == 1);
}
