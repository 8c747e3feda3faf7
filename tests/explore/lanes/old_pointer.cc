// SPDX-License-Identifier: Apache-2.0
//
// Two values of zero: the reader's first load of `count` really is zero, that of `head` is an old value.
#include <thread>

struct Node {
  int value;
};
static int count;
static Node* head;

int main() {
  std::thread writer([] {
    ++count;
    head = new Node{1};
  });
  std::thread reader([] {
    int seen = count;
    if (head != nullptr && head->value + seen < 0) __builtin_trap();
  });
  writer.join();
  reader.join();
}
