// SPDX-License-Identifier: Apache-2.0
//
// Two variables that belong together, and no mutex at all.
//
// FIX: add a mutex for
#include <cassert>
#include <thread>

static int left = 1;
static int sold = 0;

static void sell() {
  if (left > 0) {
    left--;
    sold++;
  }
}

int main() {
  std::thread other(sell);
  sell();
  other.join();
  assert(left == 0 && sold == 1);
}
