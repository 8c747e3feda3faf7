// SPDX-License-Identifier: Apache-2.0
//
// A variable that is declared in a header, defined in one file and used in two.
//
// FIX: make hits atomic
#include <cassert>
#include <thread>

#include "hits.h"

int main() {
  std::thread other(serve);
  hits += 1;
  other.join();
  assert(hits == 2);
}
