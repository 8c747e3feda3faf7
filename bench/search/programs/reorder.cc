// SPDX-License-Identifier: Apache-2.0
//
// Setters write two variables, a checker sees the first without the second.
//
// BUG reorder_2: -DSETTERS=2
// BUG reorder_10: -DSETTERS=10
// BUG reorder_50: -DSETTERS=50
#include "parallel.h"

static int a, b;

int main() {
  in_parallel_each(SETTERS + 1, [](int i) {
    if (i < SETTERS) {
      a = 1;
      b = -1;
    } else {
      int seen = a;
      assert(seen == 0 || b == -1);
    }
  });
}
