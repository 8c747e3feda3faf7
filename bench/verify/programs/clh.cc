// SPDX-License-Identifier: Apache-2.0
//
// The lock of Craig, Landin and Hagersten, taken once by each of N threads.
//
// EXECUTIONS: sc 2: 4, 3: 24
// EXECUTIONS: rf 2: 4, 3: 24
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> locked[8], tail;  // locked[0] is free
int counter;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(n, [](int thread) {
    const int mine = thread + 1;
    locked[mine].store(1);
    const int before = tail.exchange(mine);
    while (locked[before].load() == 1) {
    }
    ++counter;
    locked[mine].store(0);
  });
  return counter == n ? 0 : 1;
}
