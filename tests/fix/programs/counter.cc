// SPDX-License-Identifier: Apache-2.0
//
// The commonest of all: two threads count in a plain variable.
//
// FIX: make hits atomic
#include <cassert>
#include <thread>

static int hits = 0;

static void serve() {
  hits = hits + 1;
}

int main() {
  std::thread other(serve);
  serve();
  other.join();
  assert(hits == 2);
}
