// SPDX-License-Identifier: Apache-2.0
//
// A struct of two numbers that are always equal, copied without a lock.
//
// truth: Pair::low destructive exit:1: the two words are read at two moments, and a stale one does not match the other
// truth: Pair::high destructive exit:1: as Pair::low
#include <thread>

struct Pair {
  long low = 0, high = 0;
};

Pair shared;

int main() {
  bool whole = true;
  std::thread writer([] {
    for (long i = 1; i < 4; ++i) {
      shared.low = i;
      shared.high = i;
    }
  });
  std::thread reader([&whole] {
    for (int i = 0; i < 3; ++i) {
      long low = shared.low, high = shared.high;
      whole = whole && low == high;
    }
  });
  writer.join();
  reader.join();
  return whole ? 0 : 1;
}
