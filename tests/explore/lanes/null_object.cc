// SPDX-License-Identifier: Apache-2.0
//
// A crash in an access that the runtime performs for the program.
#include <thread>

struct Node {
  int value = 1;
};
static Node* head;

static int look() {
  if (head == nullptr) return 0;
  return head->value;  // the crash
}

int main() {
  Node node;
  head = &node;
  std::thread taker([] { head = nullptr; });
  int value = look();
  taker.join();
  return value > 1;
}
