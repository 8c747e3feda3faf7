// SPDX-License-Identifier: Apache-2.0
//
// A condition chooses which of two variables is read. An optimiser that reads both and chooses afterwards must not make a
// race of it: the other variable is written at the same time.
//
// EXPECT-NO-RACE
#include <thread>

struct Pair {
  long first = 0, second = 0;
};
int mine = 1, others;
Pair pair;
volatile bool choose_others = false;

int by_operator(bool c) {
  return c ? others : mine;
}
int by_pointer(bool c) {
  int* p = &mine;
  if (c) p = &others;
  return *p;
}
long by_field(Pair& p, bool c) {
  long& field = c ? p.second : p.first;
  return field;
}
int by_table(bool c) {
  int* const table[] = {&mine, &others};
  return *table[c];
}

int main() {
  std::thread writer([] {
    for (int i = 0; i < 100; ++i) others = i, pair.second = i;
  });
  bool c = choose_others;
  int sum = by_operator(c) + by_pointer(c) + by_table(c) + static_cast<int>(by_field(pair, c));
  writer.join();
  return sum == 3 ? 0 : 1;
}
