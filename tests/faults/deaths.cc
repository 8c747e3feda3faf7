// SPDX-License-Identifier: Apache-2.0
//
// A program that ends itself by a signal, in the way that its argument names, when an update is lost.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

static int counter;

static void add() {
  int value = counter;
  counter = value + 1;
}

int main(int argc, char** argv) {
  std::thread other(add);
  add();
  other.join();
  if (counter == 2 || argc < 2) return 0;
  const char* how = argv[1];
  if (std::strcmp(how, "abort") == 0) std::abort();
  if (std::strcmp(how, "raise") == 0) raise(SIGTERM);
  if (std::strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (std::strcmp(how, "segv") == 0) kill(getpid(), SIGSEGV);
  if (std::strcmp(how, "syscall") == 0) syscall(SYS_kill, getpid(), SIGKILL);
  if (std::strcmp(how, "child") == 0) {
    pid_t child = fork();
    if (child == 0) _exit(kill(getppid(), SIGKILL));
    waitpid(child, nullptr, 0);
  }
  if (std::strcmp(how, "thread") == 0) pthread_kill(pthread_self(), SIGHUP);
  pause();
}
