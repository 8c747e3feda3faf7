// SPDX-License-Identifier: Apache-2.0
//
// A lock-free stack that reuses nodes. While one thread is between reading `next` and the exchange, the other
// takes two nodes and puts the first of them back: the exchange succeeds (the top is the same node again),
// and the stack's top is a node that is not on it any more.
//
// EXPECT-FAILURE: assertion
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<bool> taken{false};
};

class Stack {
 public:
  void push(Node* node) {
    node->taken = false;
    Node* top = top_.load();
    do node->next = top;
    while (!top_.compare_exchange_weak(top, node));
  }
  Node* pop() {
    Node* node = top_.load();
    while (node != nullptr && !top_.compare_exchange_weak(node, node->next)) {
    }
    if (node != nullptr) {
      bool already = node->taken.exchange(true);
      assert(!already);
    }
    return node;
  }

 private:
  std::atomic<Node*> top_{nullptr};
};

int main() {
  Node nodes[3];
  Stack stack;
  for (Node& node : nodes) stack.push(&node);
  std::thread first([&] {
    stack.pop();
    stack.pop();
  });
  std::thread second([&] {
    Node* a = stack.pop();
    stack.pop();
    if (a != nullptr) stack.push(a);
  });
  first.join();
  second.join();
}
