// SPDX-License-Identifier: Apache-2.0
//
// Depth 2: the pointer is set to null between the check and the use.
//
// EXPECT-FAILURE: signal:SIGSEGV
#include <thread>

struct Node {
  int uses = 0;
};

Node node;
Node* current = &node;

int main() {
  std::thread closer([] { current = nullptr; });
  if (current != nullptr) current->uses++;
  closer.join();
}
