// SPDX-License-Identifier: Apache-2.0
//
// Lazy choice of one of two equal, constant tables: one load, either will do.
//
// truth: chosen harmless: both tables are constant and equal, and a thread uses the pointer that it read once
#include <thread>

const int tables[2][3] = {{1, 2, 3}, {1, 2, 3}};
const int* chosen = nullptr;

int last(int self) {
  const int* table = chosen;
  if (table == nullptr) {
    table = tables[self];
    chosen = table;
  }
  return table[2];
}

int main() {
  int a = 0, b = 0;
  std::thread first([&a] { a = last(0); });
  std::thread second([&b] { b = last(1); });
  first.join();
  second.join();
  return a == 3 && b == 3 ? 0 : 1;
}
