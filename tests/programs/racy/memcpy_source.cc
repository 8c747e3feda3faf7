// SPDX-License-Identifier: Apache-2.0
//
// Reading by memmove, writing by memset, sizes known only at run time.
//
// EXPECT-RACE: *shared_bytes* write-read
// RUN-ARGS: 100
#include <cstdlib>
#include <cstring>
#include <thread>

#include "invisible_barrier.h"

char shared_bytes[256];
char copy[256];
int step = 0;

int main(int argc, char** argv) {
  int size = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread one([size] {
    invisible_start(2);
    std::memset(shared_bytes, 3, size);
    invisible_signal(&step);
  });
  std::thread two([size] {
    invisible_start(2);
    invisible_wait(&step, 1);
    std::memmove(copy, shared_bytes + size - 1, size);
  });
  one.join();
  two.join();
  return copy[0] == 3 && copy[1] == 0 ? 0 : 1;
}
