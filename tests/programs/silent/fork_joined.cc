// SPDX-License-Identifier: Apache-2.0
//
// fork after threads were joined; the child starts threads of its own.
//
// EXPECT-NO-RACE
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

int data = 0;

void work() {
  std::thread first([] { data++; });
  first.join();
  std::thread second([] { data++; });
  second.join();
}

int main() {
  work();
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(data == 4 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  work();
  return data == 4 && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}
