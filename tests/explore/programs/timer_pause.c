// SPDX-License-Identifier: Apache-2.0
//
// The signal may come after the look at the flag and before pause(), which then waits for ever. `periodic`: another one comes.
//
// EXPECT-FAILURE: deadlock
// PASSES: --model sc -- periodic
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int rung;

static void ring(int signal) {
  (void)signal;
  rung = 1;
}

int main(int count, char** arguments) {
  (void)arguments;
  signal(SIGALRM, ring);
  struct itimerval time = {{count > 1 ? 1 : 0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &time, NULL);
  while (!rung) pause();
  return 0;
}
