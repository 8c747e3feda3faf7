// SPDX-License-Identifier: Apache-2.0
// A block that no lock protects; but one thread is over before the other comes to it, which Atomizer's lock sets do
// not know.
// EXPECT Atomizer: none brought together
#include <duress/annotate.h>

#include <thread>

int x;

void add() {
  for (int i = 0; i < 2; ++i) {
    DURESS_ATOMIC_BEGIN("add");
    int old = x;
    x = old + 1;
    DURESS_ATOMIC_END("add");
  }
}

int main() {
  std::thread other(add);
  other.join();
  add();
}
