// SPDX-License-Identifier: Apache-2.0
//
// Timers of the program, and the ways to wait for what they send. Time is virtual: none of these waits takes any, and all end.
//
// EXPECT-NO-FAILURE
// WITHIN: 60
// RUN-ARGS: setitimer
// RUN-ARGS: periodic
// RUN-ARGS: alarm
// RUN-ARGS: ualarm
// RUN-ARGS: sigsuspend
// RUN-ARGS: sigwait
// RUN-ARGS: sigtimedwait
// RUN-ARGS: signalfd
// RUN-ARGS: interrupted
// RUN-ARGS: restarted
// RUN-ARGS: semaphore
// RUN-ARGS: signals
// RUN-ARGS: stopped
// RUN-ARGS: spinning
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int ticks;
static int pipe_ends[2];

static void tick(int signal) {
  (void)signal;
  ++ticks;
}

static void tick_and_write(int signal) {
  (void)signal;
  char byte = 1;
  if (write(pipe_ends[1], &byte, 1) != 1) abort();
}

static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, NULL);
}

static void start(long first, long interval) {  // in microseconds
  struct itimerval time = {{interval / 1000000, interval % 1000000}, {first / 1000000, first % 1000000}};
  assert(setitimer(ITIMER_REAL, &time, NULL) == 0);
}

static sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

/// Blocks the signal; a timer sends it.
static sigset_t start_blocked(int signal, long first, long interval) {
  sigset_t set = only(signal);
  assert(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  start(first, interval);
  return set;
}

/// Waits until there were so many; the signal is blocked but here, so that none comes between look and wait.
static void await_ticks(int wanted) {
  sigset_t open;
  sigemptyset(&open);
  while (ticks < wanted) sigsuspend(&open);
}

static void with_setitimer(void) {
  handle(SIGALRM, tick, 0);
  start_blocked(SIGALRM, 20000, 0);
  await_ticks(1);
  struct itimerval left;
  assert(getitimer(ITIMER_REAL, &left) == 0);
  assert(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
}

static void periodic(void) {
  handle(SIGALRM, tick, SA_RESTART);
  start(10000, 5000);
  while (ticks < 5) pause();
  start(0, 0);
}

static void with_alarm(void) {
  handle(SIGALRM, tick, 0);
  start_blocked(SIGALRM, 0, 0);
  assert(alarm(100) == 0);
  unsigned left = alarm(2);
  assert(left > 0 && left <= 100);
  await_ticks(1);
}

static void with_ualarm(void) {
  handle(SIGALRM, tick, 0);
  ualarm(1000, 1000);
  while (ticks < 3) pause();
  ualarm(0, 0);
}

static void with_sigsuspend(void) {
  handle(SIGALRM, tick, 0);
  start_blocked(SIGALRM, 1000, 1000);
  sigset_t open;
  sigemptyset(&open);
  for (int i = 1; i <= 3; ++i) {
    int before = ticks;
    assert(sigsuspend(&open) == -1 && errno == EINTR);
    assert(ticks > before);
  }
  start(0, 0);
}

static void* wait_for_three(void* data) {
  for (int i = 0; i < 3; ++i) {
    int signal = 0;
    assert(sigwait(data, &signal) == 0 && signal == SIGALRM);
    ++ticks;
  }
  return NULL;
}

/// A thread waits for signals that all threads block.
static void with_sigwait(void) {
  sigset_t set = only(SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t waiter;
  pthread_create(&waiter, NULL, wait_for_three, &set);
  start(1000, 1000);
  pthread_join(waiter, NULL);
  assert(ticks == 3);
}

static void with_sigtimedwait(void) {
  sigset_t set = start_blocked(SIGALRM, 1000, 0);
  struct timespec hour = {3600, 0};
  assert(sigtimedwait(&set, NULL, &hour) == SIGALRM);
  struct timespec second = {1, 0};
  assert(sigtimedwait(&set, NULL, &second) == -1 && errno == EAGAIN);
}

static void with_signalfd(void) {
  sigset_t set = start_blocked(SIGALRM, 1000, 1000);
  int fd = signalfd(-1, &set, SFD_CLOEXEC);
  assert(fd >= 0);
  for (int i = 0; i < 3; ++i) {
    struct pollfd one = {fd, POLLIN, 0};
    assert(poll(&one, 1, -1) == 1 && (one.revents & POLLIN));
    struct signalfd_siginfo info;
    assert(read(fd, &info, sizeof info) == sizeof info);
    assert(info.ssi_signo == SIGALRM);
  }
  start(0, 0);
  close(fd);
}

/// In microseconds: it comes when nothing else can happen, so when the thread waits.
enum { kLong = 20000000 };

/// Without SA_RESTART a handler ends a read, and always a poll.
static void interrupted(void) {
  assert(pipe(pipe_ends) == 0);
  handle(SIGALRM, tick, 0);
  char byte;
  start(kLong, 0);
  assert(read(pipe_ends[0], &byte, 1) == -1 && errno == EINTR);
  handle(SIGALRM, tick, SA_RESTART);
  start(kLong, 0);
  struct pollfd one = {pipe_ends[0], POLLIN, 0};
  assert(poll(&one, 1, -1) == -1 && errno == EINTR);
  start(kLong, 0);
  struct timespec hour = {3600, 0}, left;
  assert(nanosleep(&hour, &left) == -1 && errno == EINTR && left.tv_sec > 3000);
  assert(ticks == 3);
}

static void restarted(void) {
  assert(pipe(pipe_ends) == 0);
  handle(SIGALRM, tick, SA_RESTART);
  handle(SIGUSR1, tick_and_write, SA_RESTART);
  start(kLong, 0);
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  struct itimerspec time = {{0, 0}, {100, 0}};  // so long that it comes after the other one
  assert(timer_settime(timer, 0, &time, NULL) == 0);
  char byte;
  assert(read(pipe_ends[0], &byte, 1) == 1);
  assert(ticks == 1);
}

static void with_semaphore(void) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  handle(SIGALRM, tick, 0);
  start(kLong, 0);
  assert(sem_wait(&semaphore) == -1 && errno == EINTR);
  assert(ticks == 1);
}

static atomic_int sum;

static void add(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  assert(info->si_code == SI_TIMER);
  sum += info->si_value.sival_int;
  ++ticks;
}

/// Two timers send the same real-time signal, each with its own value: neither is lost.
static void signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = add;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, NULL);
  sigset_t set = only(SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  timer_t timers[2];
  for (int i = 0; i < 2; ++i) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    event.sigev_value.sival_int = i + 1;
    assert(timer_create(CLOCK_MONOTONIC, &event, &timers[i]) == 0);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct itimerspec time = {{0, 0}, {now.tv_sec + 1, now.tv_nsec}};
    assert(timer_settime(timers[i], TIMER_ABSTIME, &time, NULL) == 0);
  }
  await_ticks(2);
  assert(sum == 3);
  assert(timer_getoverrun(timers[0]) >= 0);
  assert(timer_delete(timers[0]) == 0 && timer_delete(timers[1]) == 0);
  assert(timer_delete(timers[1]) == -1 && errno == EINVAL);
}

/// A timer that is stopped before its time sends nothing: it is longer than what may come early.
static void stopped(void) {
  handle(SIGALRM, tick, 0);
  start(3600000000, 0);
  usleep(1000);
  start(0, 0);
  sleep(7200);
  assert(ticks == 0);
}

/// Waits by looking.
static void spinning(void) {
  handle(SIGALRM, tick, 0);
  start(1000, 0);
  while (ticks == 0) {
  }
  start(1000, 0);
  while (ticks == 1) sched_yield();
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"setitimer", with_setitimer},
    {"periodic", periodic},
    {"alarm", with_alarm},
    {"ualarm", with_ualarm},
    {"sigsuspend", with_sigsuspend},
    {"sigwait", with_sigwait},
    {"sigtimedwait", with_sigtimedwait},
    {"signalfd", with_signalfd},
    {"interrupted", interrupted},
    {"restarted", restarted},
    {"semaphore", with_semaphore},
    {"signals", signals},
    {"stopped", stopped},
    {"spinning", spinning},
};

int main(int count, char** arguments) {
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (count > 1 && strcmp(arguments[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  return 1;
}
