// SPDX-License-Identifier: Apache-2.0
//
// Programs that do not want to end: the first argument says how. Each process appends its number to the file of the
// second.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

static int marks;

static void mark() {
  dprintf(marks, "%d\n", getpid());
}

[[noreturn]] static void compute() {
  for (volatile unsigned long i = 0;; i = i + 1) {
  }
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const char* how = arguments[1];
  marks = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
  mark();
  std::atomic<int> value{0};
  std::thread other([&] { value = 1; });
  if (std::strcmp(how, "compute") == 0) compute();
  if (std::strcmp(how, "ignore") == 0) {
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) signal(number, SIG_IGN);
    compute();
  }
  if (std::strcmp(how, "block") == 0) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    compute();
  }
  if (std::strcmp(how, "stopped") == 0) {
    for (int made = 0; made < 3; ++made) {
      if (fork() == 0) {
        mark();
        raise(SIGSTOP);
        _exit(0);
      }
    }
    for (int status = 0; waitpid(-1, &status, 0) > 0;) {  // until each has ended, which none does
    }
  }
  if (std::strcmp(how, "forks") == 0) {
    for (int made = 0; made < 100; ++made) {  // enough to see; without end it would end the machine
      if (fork() == 0) {
        mark();
        for (;;) pause();
      }
    }
    compute();
  }
  if (std::strcmp(how, "chain") == 0) {
    for (int made = 0; made < 100; ++made) {
      if (fork() != 0) _exit(0);
      mark();
    }
    for (;;) pause();
  }
  if (std::strcmp(how, "close") == 0) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
  }
  other.join();
}
