// SPDX-License-Identifier: Apache-2.0
//
// Programs that behave oddly, for use.py: the first argument, or ODD_EARLY for what happens before main, says
// how.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace {

[[gnu::constructor]] void before_main() {
  const char* early = std::getenv("ODD_EARLY");
  if (early == nullptr) return;
  if (std::strcmp(early, "exit") == 0) _exit(5);
  if (std::strcmp(early, "crash") == 0) raise(SIGSEGV);
  if (std::strcmp(early, "hang") == 0) {
    for (;;) pause();
  }
}

std::atomic<int> value{0};

/// One of two threads is first.
void race_to_set() {
  std::thread first([] { value = 1; });
  std::thread second([] { value = 2; });
  first.join();
  second.join();
}

/// Threads that wait for what never comes.
void wait_for_three() {
  while (value != 3) {
  }
}
void wait_for_four() {
  while (value != 4) {
  }
}

void print_megabytes(int megabytes) {
  std::string line(1023, 'x');
  line += '\n';
  for (int i = 0; i < megabytes * 1024; ++i) std::fwrite(line.data(), 1, line.size(), stdout);
}

/// Goes into the background as daemons do; what is left writes its number to the file.
void daemonise(const char* file) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  int out = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  dprintf(out, "%d\n", getpid());
  close(out);
  race_to_set();
  for (;;) pause();
}

}  // namespace

int main(int count, char** arguments) {
  std::string how = count > 1 ? arguments[1] : "";
  if (how == "no-thread") std::puts("alone");
  if (how == "exit") return std::atoi(arguments[2]);
  if (how == "race" || how == "megabytes" || how == "output") race_to_set();
  if (how == "race") return value == 2 ? 0 : 1;
  if (how == "megabytes") print_megabytes(std::atoi(arguments[2]));
  std::fflush(stdout);  // an assertion does not
  if (how == "megabytes") assert(value == 2);
  if (how == "output") std::printf("the last was %d\n", value.load());
  if (how == "wait-three" || how == "wait-four")
    std::thread(how == "wait-three" ? wait_for_three : wait_for_four).join();
  if (how == "stop-parent") kill(getppid(), SIGSTOP);
  if (how == "daemon") daemonise(arguments[2]);
  if (how == "fine") {
    race_to_set();
    assert(value != 0);
    if (count > 2) std::ofstream(arguments[2], std::ios::app) << '.';  // a byte for each run
  }
  if (how == "input") {
    race_to_set();
    int number = 0;
    int got = std::scanf("%d", &number);
    assert(got == 1 && number != value);
  }
}
