// SPDX-License-Identifier: Apache-2.0
//
// exec replaces the image; the new one starts afresh. posix_spawn and system work as well.
//
// EXPECT-NO-RACE
// EXPECT-EXIT: 5
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

int data = 0;
extern char** environ;

int main(int argc, char** argv) {
  std::thread thread([] { data++; });
  thread.join();
  if (argc > 1) return data == 1 ? 5 : 1;
  pid_t child;
  char shell[] = "/bin/sh", flag[] = "-c", script[] = "exit 3";
  char* arguments[] = {shell, flag, script, nullptr};
  if (posix_spawn(&child, shell, nullptr, nullptr, arguments, environ) != 0) return 1;
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) != 3 || WEXITSTATUS(system("exit 4")) != 4) return 1;
  char again[] = "again";
  char* next[] = {argv[0], again, nullptr};
  execv("/proc/self/exe", next);
  return 1;
}
