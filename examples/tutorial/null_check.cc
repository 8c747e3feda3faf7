// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, bug of depth 2: the pointer is set to null between the check and the use. With an argument the
// check and the use are both over before the other thread clears it, in every run.
//
// EXPECT-RACE: p read-write
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 0;
};
Node node;
Node* p = nullptr;
int used = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  p = &node;
  std::thread child([=] {
    if (ordered) invisible_wait(&used, 1);
    p = nullptr;
  });
  if (p != nullptr) p->f++;
  if (ordered) invisible_signal(&used);
  child.join();
  return node.f == 1 || !ordered ? 0 : 1;
}
