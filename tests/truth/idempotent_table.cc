// SPDX-License-Identifier: Apache-2.0
//
// Every thread fills the same table with the same numbers before it uses it.
//
// truth: squares[] harmless: a thread's own store hides the zero from it, and all others store the same number
#include <thread>

int squares[4];

bool use() {
  for (int i = 0; i < 4; ++i) squares[i] = i * i;
  for (int i = 0; i < 4; ++i) {
    if (squares[i] != i * i) return false;
  }
  return true;
}

int main() {
  bool right[2] = {};
  std::thread first([&right] { right[0] = use(); });
  std::thread second([&right] { right[1] = use(); });
  first.join();
  second.join();
  return right[0] && right[1] ? 0 : 1;
}
