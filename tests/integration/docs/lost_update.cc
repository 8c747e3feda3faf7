// SPDX-License-Identifier: Apache-2.0
// The example of docs/guide/verify.md.
#include <cassert>
#include <thread>

int counter = 0;

void add() {
  int seen = counter;
  counter = seen + 1;
}

int main() {
  std::thread other(add);
  add();
  other.join();
  assert(counter == 2);
}
