// SPDX-License-Identifier: Apache-2.0
//
// The program dies of SIGSEGV after the race: the race is kept and the death is the program's own.
//
// EXPECT-RACE: shared write-write
// EXPECT-EXIT: SIGSEGV
// SUITE: fast
#include <thread>

#include "invisible_barrier.h"

int shared = 0;
int step = 0;
int* volatile nowhere = nullptr;

int main() {
  std::thread one([] {
    shared = 1;
    invisible_signal(&step);
  });
  invisible_wait(&step, 1);
  shared = 2;
  one.join();
  *nowhere = 1;
  return 0;
}
