// SPDX-License-Identifier: Apache-2.0
//
// Two threads write to one file: that orders nothing, for neither reads what the other wrote.
//
// EXPECT-RACE: shared write-write
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "invisible_barrier.h"

int shared = 0, step = 0;

int main() {
  FILE* stream = tmpfile();
  int file = fileno(stream);
  std::thread one([=] {
    invisible_start(2);
    if (write(file, "one", 3) != 3) __builtin_trap();
    shared = 1;
    if (write(file, "one", 3) != 3 || fputs("one", stream) < 0 || fflush(stream) != 0) __builtin_trap();
    invisible_signal(&step);
  });
  std::thread two([=] {
    invisible_start(2);
    invisible_wait(&step, 1);
    if (write(file, "two", 3) != 3 || fputs("two", stream) < 0 || fflush(stream) != 0) __builtin_trap();
    shared = 2;
  });
  one.join();
  two.join();
  fclose(stream);
  return 0;
}
