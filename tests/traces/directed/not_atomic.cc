// SPDX-License-Identifier: Apache-2.0
// A block that is said to be atomic, and is not: nothing keeps the other thread out.
// EXPECT Atomizer: brought together
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
  add();
  other.join();
}
