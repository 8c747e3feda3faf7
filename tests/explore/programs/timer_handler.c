// SPDX-License-Identifier: Apache-2.0
//
// A timer's handler looks at two counters that are equal but for a moment. It must not come in that moment: with `blocked` the signal waits.
//
// EXPECT-FAILURE: assertion
// PASSES: --model sc -- blocked
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int first, second, seen;

static void look(int signal) {
  (void)signal;
  assert(first == second);
  ++seen;
}

int main(int count, char** arguments) {
  int blocks = count > 1 && strcmp(arguments[1], "blocked") == 0;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  signal(SIGALRM, look);
  struct itimerval time = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_REAL, &time, NULL);
  for (int i = 0; i < 3; ++i) {
    if (blocks) sigprocmask(SIG_BLOCK, &set, NULL);
    ++first;
    ++second;
    if (blocks) sigprocmask(SIG_UNBLOCK, &set, NULL);
  }
  while (seen < 2) pause();
  return 0;
}
