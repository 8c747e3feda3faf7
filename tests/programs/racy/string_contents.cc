// SPDX-License-Identifier: Apache-2.0
//
// One thread appends to a string while another reads a character of it.
//
// EXPECT-RACE: *
#include <string>
#include <thread>

#include "invisible_barrier.h"

std::string text = "a string that is long enough to live on the heap";
int step = 0;

int main() {
  char seen = 0;
  std::thread one([] {
    invisible_start(2);
    text[3] = 'X';
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = text[3];
  });
  one.join();
  two.join();
  return seen == 'X' ? 0 : 1;
}
