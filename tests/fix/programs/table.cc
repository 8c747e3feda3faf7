// SPDX-License-Identifier: Apache-2.0
//
// An element of an array that two threads count up.
//
// FIX: make the elements of table[] atomic
#include <cassert>
#include <thread>

int table[4];

void count(int place) {
  table[place] += 1;
}

int main() {
  std::thread other(count, 2);
  count(2);
  other.join();
  assert(table[2] == 2);
}
