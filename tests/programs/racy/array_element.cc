// SPDX-License-Identifier: Apache-2.0
//
// One element of a global array races; its neighbours belong to one thread each.
//
// EXPECT-RACE: table[*] write-write @first @second
#include <thread>

#include "invisible_barrier.h"

short table[64];
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    for (int i = 0; i < 32; i++) table[i] = 1;  // @first
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    for (int i = 31; i < 64; i++) table[i] = 2;  // @second
  });
  one.join();
  two.join();
  return table[30] == 1 && table[31] == 2 ? 0 : 1;
}
