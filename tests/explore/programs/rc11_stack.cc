// SPDX-License-Identifier: Apache-2.0
//
// A lock-free stack whose push publishes a node without releasing what it wrote into it.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- release
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  std::atomic<int> value{0};
  std::atomic<Node*> next{nullptr};
};

std::atomic<Node*> top{nullptr};
std::memory_order on_push = std::memory_order_relaxed;

void push(Node* node, int value) {
  node->value.store(value, std::memory_order_relaxed);
  Node* old = top.load(std::memory_order_relaxed);
  do {
    node->next.store(old, std::memory_order_relaxed);
  } while (!top.compare_exchange_weak(old, node, on_push, std::memory_order_relaxed));
}

Node* pop() {
  Node* old = top.load(std::memory_order_acquire);
  while (old && !top.compare_exchange_weak(old, old->next.load(std::memory_order_relaxed),
                                           std::memory_order_acquire, std::memory_order_acquire)) {
  }
  return old;
}

int main(int argc, char**) {
  if (argc > 1) on_push = std::memory_order_release;
  static Node nodes[2];
  std::thread producer([] {
    push(&nodes[0], 1);
    push(&nodes[1], 2);
  });
  std::thread consumer([] {
    for (int i = 0; i < 2; ++i) {
      if (Node* node = pop()) assert(node->value.load(std::memory_order_relaxed) != 0);
    }
  });
  producer.join();
  consumer.join();
}
