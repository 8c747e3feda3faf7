// SPDX-License-Identifier: Apache-2.0
//
// The first two steps of Dekker's lock, in a row of N threads: each says that it is there and looks at the
// next.
//
// EXECUTIONS: sc 2: 3, 3: 7, 4: 15
// EXECUTIONS: rf 2: 3, 3: 7, 4: 15
// SOURCE: 2^N - 1: each thread sees the next one's store or not, and not all of them can miss it
#include "threads.h"

std::atomic<int> here[16];

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(n, [n](int self) {
    here[self].store(1);
    (void)here[(self + 1) % n].load();
  });
}
