// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, bug of depth 2: the pointer is set to null between the check and the use. Here the check
// and the use are both over before the other thread clears it.
//
// EXPECT-RACE: p read-write
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 0;
};
Node node;
Node* p = nullptr;
int used = 0;

int main() {
  p = &node;
  std::thread child([] {
    invisible_wait(&used, 1);
    p = nullptr;
  });
  if (p != nullptr) p->f++;
  invisible_signal(&used);
  child.join();
  return node.f == 1 ? 0 : 1;
}
