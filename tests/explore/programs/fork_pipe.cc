// SPDX-License-Identifier: Apache-2.0
//
// A helper process answers questions through two pipes. Two threads ask and read the answer without a lock
// around both: each may get the other's answer.
//
// EXPECT-FAILURE: assertion
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <thread>

int to_helper[2], from_helper[2];

void helper() {
  char question;
  while (read(to_helper[0], &question, 1) == 1) {
    char answer = static_cast<char>(question + 1);
    if (write(from_helper[1], &answer, 1) != 1) break;
  }
  _exit(0);
}

void ask(char question) {
  char answer = 0;
  bool sent = write(to_helper[1], &question, 1) == 1;
  bool got = read(from_helper[0], &answer, 1) == 1;
  assert(sent && got);
  assert(answer == question + 1);
}

int main() {
  if (pipe(to_helper) != 0 || pipe(from_helper) != 0) return 2;
  pid_t child = fork();
  if (child == 0) {
    close(to_helper[1]);
    helper();
  }
  std::thread first(ask, 'a'), second(ask, 'm');
  first.join();
  second.join();
  close(to_helper[1]);
  waitpid(child, nullptr, 0);
}
