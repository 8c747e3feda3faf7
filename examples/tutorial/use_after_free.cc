// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, bug of depth 1, use after free: nothing orders the last use before the free. Reads something else
// than 7 if the free comes first. With an argument the use comes first in every run.
//
// EXPECT-RACE: *
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

struct Node {
  int f = 7;
};
int used = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  Node* p = new Node();
  int seen = 0;
  std::thread user([=, &seen] {
    seen = p->f;
    if (ordered) invisible_signal(&used);
  });
  if (ordered) invisible_wait(&used, 1);
  delete p;
  user.join();
  return seen == 7 ? 0 : 1;
}
