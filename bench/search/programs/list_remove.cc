// SPDX-License-Identifier: Apache-2.0
//
// A sorted list without locks: two neighbours are removed at once, and one of them stays. With marked links
// it is right.
//
// BUG list_remove: -DUNMARKED
// CORRECT list_marked: -DMARKED
#include "parallel.h"

// next[i]: the node after i, or a removed one's if 8 is added; 0 is the head, 4 the end.
static std::atomic<int> next[5] = {1, 2, 3, 4, 4};

static void remove(int node) {
  for (;;) {
    int before = 0;
    while (next[before] % 8 != node && next[before] % 8 < 4) before = next[before] % 8;
    int after = next[node];
#ifdef MARKED
    if (after < 8) {
      if (!next[node].compare_exchange_strong(after, after + 8)) continue;
      after += 8;
    }
#endif
    int expected = node;
    if (next[before].compare_exchange_strong(expected, after % 8)) return;
    if (expected % 8 != node && expected < 8) return;
  }
}

static bool has(int node) {
  int at = 0;
  while (at < 4 && at != node) at = next[at] % 8;
  return at == node && next[node] < 8;
}

int main() {
  in_parallel([] { remove(1); }, [] { remove(2); });
  assert(!has(1) && !has(2) && has(3));
}
