// SPDX-License-Identifier: Apache-2.0
//
// The block is freed before the thread is made that writes it, and another one of the same size is allocated
// in between: it does not get the same memory.
//
// EXPECT-VERIFY: * failure use-after-free
// VERIFY-ALSO: -DCORRECT * none
#include <cstdlib>
#include <thread>

struct Node {
  long key;
  int count;
};

int main() {
  auto* node = static_cast<Node*>(malloc(sizeof(Node)));
  node->key = node->count = 0;
#ifndef CORRECT
  free(node);
#endif
  auto* other = static_cast<Node*>(malloc(sizeof(Node)));
  other->count = 0;
  std::thread thread([&] { node->count = 3; });
  thread.join();
  int seen = other->count;
  free(other);
#ifdef CORRECT
  free(node);
#endif
  return seen;
}
