// SPDX-License-Identifier: Apache-2.0
//
// The last result is remembered in two words: the key after the value.
//
// truth: known_key destructive exit:1: the key may be seen before the value
// truth: known_value destructive exit:1: the value may be the old one though the key is the new one
#include <thread>

int known_key = -1, known_value = 0;

int square(int key) {
  if (known_key == key) return known_value;
  int value = key * key;
  known_value = value;
  known_key = key;
  return value;
}

int main() {
  int a = 0, b = 0;
  std::thread first([&a] { a = square(6); });
  std::thread second([&b] { b = square(6); });
  first.join();
  second.join();
  return a == 36 && b == 36 ? 0 : 1;
}
