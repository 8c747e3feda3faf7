// SPDX-License-Identifier: Apache-2.0
//
// A stack of Treiber's whose nodes are published with relaxed. Races that are alike but for their columns
// have each a token that shows it.
//
// EXPECT-VERIFY: 24 race Node::value
// EXPECT-VERIFY: 24 race Node::next
// VERIFY-FIX: use release for the compare-exchange at order_stack.cc:24 and acquire for the update
#include <atomic>
#include <thread>

struct Node {
  Node* next;
  int value;
};

std::atomic<Node*> top{nullptr};
Node nodes[2];

void push(int value) {
  Node* node = &nodes[value - 1];
  node->value = value;
  node->next = top.load(std::memory_order_relaxed);
  while (!top.compare_exchange_weak(node->next, node, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
}

int take_all() {
  Node* node = top.exchange(nullptr, std::memory_order_relaxed);
  int sum = 0;
  while (node) {
    sum += node->value;
    node = node->next;
  }
  return sum;
}

int main() {
  std::thread first(push, 1), second(push, 2);
  int sum = take_all();
  first.join();
  second.join();
  return sum + take_all() == 3 ? 0 : 1;
}
