// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, bug of depth 1: the child uses p, which its parent sets after the fork. Works whenever the
// parent happens to be first.
//
// EXPECT-RACE: p write-read
// EXPECT-RACE: Node::f
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 0;
};
Node* p = nullptr;
int initialised = 0;

int main() {
  std::thread child([] {
    invisible_wait(&initialised, 1);
    p->f++;
  });
  p = new Node();
  invisible_signal(&initialised);
  child.join();
  bool right = p->f == 1;
  delete p;
  return right ? 0 : 1;
}
