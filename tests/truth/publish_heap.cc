// SPDX-License-Identifier: Apache-2.0
//
// A node on the heap is published by a plain global pointer.
//
// truth: head destructive: the pointer may be seen before the value is written
// truth: Node::value destructive exit:1: the reader has no order with the store of the value
#include <thread>

struct Node {
  int value;
};

Node* head = nullptr;

int main() {
  bool right = true;
  Node* node = new Node{0};
  std::thread publisher([node] {
    node->value = 33;
    head = node;
  });
  std::thread reader([&right] {
    Node* seen = head;
    if (seen != nullptr) right = seen->value == 33;
  });
  publisher.join();
  reader.join();
  delete node;
  return right ? 0 : 1;
}
