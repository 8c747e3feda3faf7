// SPDX-License-Identifier: Apache-2.0
//
// Addresses that the kernel refuses, passed to calls that the scheduler performs itself: the answer is EFAULT, not a crash of the program.
//
// EXPECT-NO-FAILURE
// WITHIN: 5
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void refused(long result) {
  assert(result == -1 && errno == EFAULT);
}

static void* calls(void* bad) {
  fd_set set;
  FD_ZERO(&set);
  refused(nanosleep(bad, 0));
  assert(clock_nanosleep(CLOCK_MONOTONIC, 0, bad, 0) == EFAULT);
  refused(poll(bad, 1, 10));
  refused(ppoll(bad, 1, 0, 0));
  refused(select(1, bad, 0, 0, 0));
  refused(pselect(1, &set, 0, bad, &(struct timespec){0, 1}, 0));
  refused(setitimer(ITIMER_REAL, bad, 0));
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  refused(timerfd_settime(timer, 0, bad, 0));
  close(timer);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, calls, (void*)8);
  calls((void*)8);
  pthread_join(thread, 0);
  return 0;
}
