// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, use after free: nothing orders the last use before the free. Here the use comes first, so the
// run is harmless; the other order is the bug.
//
// EXPECT-RACE: *
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 7;
};
int used = 0;

int main() {
  Node* p = new Node();
  int seen = 0;
  std::thread user([&seen, p] {
    seen = p->f;
    invisible_signal(&used);
  });
  invisible_wait(&used, 1);
  delete p;
  user.join();
  return seen == 7 ? 0 : 1;
}
