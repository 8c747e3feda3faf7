// SPDX-License-Identifier: Apache-2.0
//
// What a handler needs is set up before it is installed; it runs on threads that were there before. And what
// the program sees of its handlers is what it gave.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <signal.h>

#include <initializer_list>
#include <thread>

#include "invisible_barrier.h"

int for_sigaction, for_signal, for_info;
int seen = 0, step = 0;

static void count(int) {
  invisible_signal(&seen);
}

static void read_first(int signal) {
  if (signal != SIGUSR1 || for_sigaction != 1) __builtin_trap();
  count(0);
}

static void read_second(int signal) {
  if (signal != SIGUSR2 || for_signal != 2) __builtin_trap();
  count(0);
}

static void read_third(int signal, siginfo_t* info, void*) {
  if (info->si_signo != signal || for_info != 3) __builtin_trap();
  count(0);
}

static void check_old() {
  struct sigaction old;
  if (sigaction(SIGUSR1, nullptr, &old) != 0 || old.sa_handler != read_first || (old.sa_flags & SA_SIGINFO))
    __builtin_trap();
  if (sigaction(SIGTERM, nullptr, &old) != 0 || old.sa_sigaction != read_third ||
      !(old.sa_flags & SA_SIGINFO))
    __builtin_trap();
  if (signal(SIGUSR2, SIG_IGN) != read_second || signal(SIGUSR2, count) != SIG_IGN) __builtin_trap();
  struct sigaction none = {};
  none.sa_handler = count;
  if (sigaction(SIGKILL, &none, nullptr) == 0 || signal(SIGKILL, count) != SIG_ERR) __builtin_trap();
}

int main() {
  std::thread other([] {
    invisible_signal(&step);
    invisible_wait(&seen, 3);
  });
  invisible_wait(&step, 1);
  struct sigaction action = {};
  for_sigaction = 1;
  action.sa_handler = read_first;
  sigaction(SIGUSR1, &action, nullptr);
  for_signal = 2;
  signal(SIGUSR2, read_second);
  for_info = 3;
  action.sa_sigaction = read_third;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTERM, &action, nullptr);
  int sent = 0;
  for (int number : {SIGUSR1, SIGUSR2, SIGTERM}) {
    pthread_kill(other.native_handle(), number);
    invisible_wait(&seen, ++sent);
  }
  check_old();
  other.join();
  return 0;
}
