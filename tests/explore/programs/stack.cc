// SPDX-License-Identifier: Apache-2.0
//
// A lock-free stack whose pop stores the new top instead of exchanging it: two threads get the same node.
//
// EXPECT-FAILURE: assertion
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  Node* next = nullptr;
};

class Stack {
 public:
  void push(Node* node) {
    node->next = top_.load();
    while (!top_.compare_exchange_weak(node->next, node)) {
    }
  }
  Node* pop() {
    Node* node = top_.load();
    if (node != nullptr) top_.store(node->next);
    return node;
  }

 private:
  std::atomic<Node*> top_{nullptr};
};

int main() {
  Node nodes[3];
  Stack stack;
  for (Node& node : nodes) stack.push(&node);
  Node *first = nullptr, *second = nullptr;
  std::thread a([&] { first = stack.pop(); });
  std::thread b([&] { second = stack.pop(); });
  a.join();
  b.join();
  assert(first != second);
}
