// SPDX-License-Identifier: Apache-2.0
//
// A member of a structure on the heap, reached through pointers; one of its users forgets the mutex beside it.
//
// FIX: hold
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Node {
  std::mutex lock;
  int uses = 0;
};

void use(Node* node) {
  std::lock_guard<std::mutex> guard(node->lock);
  node->uses += 1;
}

void use_quickly(Node* node) {
  node->uses += 1;
}

int main() {
  auto node = std::make_unique<Node>();
  std::thread other(use, node.get());
  use_quickly(node.get());
  other.join();
  assert(node->uses == 2);
}
