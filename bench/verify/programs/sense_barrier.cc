// SPDX-License-Identifier: Apache-2.0
//
// A barrier that counts down, for N threads: the last one lets the others go.
//
// EXECUTIONS: sc 2: 4, 3: 24
// EXECUTIONS: rf 2: 4, 3: 24
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> missing, open;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  missing.store(n);
  together(n, [](int) {
    if (missing.fetch_sub(1) == 1) {
      open.store(1);
      return;
    }
    while (open.load() == 0) {
    }
  });
}
