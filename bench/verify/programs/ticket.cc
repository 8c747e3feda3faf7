// SPDX-License-Identifier: Apache-2.0
//
// A ticket lock, taken once by each of N threads.
//
// EXECUTIONS: sc 2: 4, 3: 48
// EXECUTIONS: rf 2: 4, 3: 48
// SOURCE: brute force (brute_force.py)
#include "threads.h"

std::atomic<int> next_ticket, serving;
int counter;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  together(n, [](int) {
    const int mine = next_ticket.fetch_add(1);
    while (serving.load() != mine) {
    }
    ++counter;
    serving.store(mine + 1);
  });
  return counter == n ? 0 : 1;
}
