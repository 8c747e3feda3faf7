// SPDX-License-Identifier: Apache-2.0
//
// memcpy over a buffer overlaps a single element written by the other thread.
//
// EXPECT-RACE: buffer* write-write
#include <cstring>
#include <thread>

#include "invisible_barrier.h"

char buffer[256];
char source[256];
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    buffer[77] = 1;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    std::memcpy(buffer + 10, source, 100);
  });
  one.join();
  two.join();
  return buffer[77] == 0 ? 0 : 1;
}
