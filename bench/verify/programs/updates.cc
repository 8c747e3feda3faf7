// SPDX-License-Identifier: Apache-2.0
//
// Two threads with N updates of one variable each.
//
// EXECUTIONS: sc 1: 2, 2: 6, 4: 70
// EXECUTIONS: rf 1: 2, 2: 6, 4: 70
// EXECUTIONS: rc11 1: 2, 2: 6, 4: 70
// SOURCE: (2N)! / (N!)^2
#include "threads.h"

std::atomic<int> x;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(2, [n](int) {
    for (int k = 0; k < n; ++k) x.fetch_add(1);
  });
}
