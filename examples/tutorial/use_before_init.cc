// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, bug of depth 1: the child uses p, which its parent sets after the fork. Works whenever the
// parent happens to be first, and with an argument it always is.
//
// EXPECT-RACE: p write-read
// EXPECT-RACE: Node::f
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 0;
};
Node* p = nullptr;
int initialised = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  std::thread child([=] {
    if (ordered) invisible_wait(&initialised, 1);
    p->f++;
  });
  p = new Node();
  if (ordered) invisible_signal(&initialised);
  child.join();
  bool right = p->f == 1;
  delete p;
  return right ? 0 : 1;
}
