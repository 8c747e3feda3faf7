// SPDX-License-Identifier: Apache-2.0
//
// A race before the fork and one after it, in the parent.
//
// EXPECT-RACE: before write-write
// EXPECT-RACE: after write-write
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

int before = 0, after = 0;
int step = 0;

void race(int* where, int count) {
  std::thread one([where] {
    *where = 1;
    invisible_signal(&step);
  });
  invisible_wait(&step, count);
  *where = 2;
  one.join();
}

int main() {
  race(&before, 1);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  race(&after, 2);
  return 0;
}
