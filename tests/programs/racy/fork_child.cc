// SPDX-License-Identifier: Apache-2.0
//
// The child of a fork has the race; the parent is clean.
//
// EXPECT-RACE: in_child write-write
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

int in_child = 0;
int step = 0;

int main() {
  pid_t child = fork();
  if (child == 0) {
    std::thread one([] {
      in_child = 1;
      invisible_signal(&step);
    });
    invisible_wait(&step, 1);
    in_child = 2;
    one.join();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  // Duress leaves the child's own exit code alone.
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
