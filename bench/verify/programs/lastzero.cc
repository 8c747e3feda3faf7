// SPDX-License-Identifier: Apache-2.0
//
// Thread j does a[j] = a[j-1] + 1; one more looks for the last zero, from the end.
//
// EXECUTIONS: sc 2: 5, 5: 64
// EXECUTIONS: rf 2: 5, 5: 64
// SOURCE: 2^(N-2) (N+3), the count in the table of Optimal DPOR (POPL 2014): lastzero(15) has 147,456
#include "threads.h"

std::atomic<int> a[32];

int main(int argc, char** argv) {
  const int n = number(argc, argv, 5);
  together(n + 1, [n](int j) {
    if (j > 0) {
      a[j].store(a[j - 1].load() + 1);
      return;
    }
    int i = n;
    while (a[i].load() != 0) --i;
  });
}
