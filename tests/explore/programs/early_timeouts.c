// SPDX-License-Identifier: Apache-2.0
//
// Waits for a thread with a timeout, and gives up with exit code 6 when it comes: as a test that has waited long enough. Nothing says
// how slow a thread may be, so each timeout may come early; with --timeouts real none does. timeouts.py looks at the reports.
//
// EXPECT-FAILURE: exit:6
// RUN-ARGS: epoll
// RUN-ARGS: condition
// RUN-ARGS: sleep
// PASSES: --timeouts real -- epoll
// PASSES: --timeouts real -- poll
// PASSES: --timeouts real -- select
// PASSES: --timeouts real -- condition
// PASSES: --timeouts real -- semaphore
// PASSES: --timeouts real -- mutex
// PASSES: --timeouts real -- sleep
// PASSES: --timeouts real -- timer
// PASSES: --timeouts real -- long
// PASSES: --timeouts short -- long
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static sem_t posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static atomic_int done;

static void* work(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  sem_post(&posted);
  if (write(ends[1], "", 1) != 1) abort();
  done = 1;
  return NULL;
}

static void* hold(void* unused) {
  pthread_mutex_lock(&held);
  done = 1;
  work(unused);
  pthread_mutex_unlock(&held);
  return NULL;
}

static struct timespec in(int seconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += seconds;
  return time;
}

static int by_epoll(void) {
  int set = epoll_create1(0);
  struct epoll_event event = {EPOLLIN, {0}};
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
  return epoll_wait(set, &event, 1, 5000) == 1;
}

static int by_poll(int milliseconds) {
  struct pollfd one = {ends[0], POLLIN, 0};
  return poll(&one, 1, milliseconds) == 1;
}

static int by_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  struct timeval time = {3, 500000};
  return select(ends[0] + 1, &set, NULL, NULL, &time) == 1;
}

static int by_condition(void) {
  struct timespec until = in(4);
  int result = 0;
  pthread_mutex_lock(&mutex);
  while (!ready && result == 0) result = pthread_cond_timedwait(&condition, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  return result == 0;
}

static int by_semaphore(void) {
  struct timespec until = in(2);
  return sem_timedwait(&posted, &until) == 0;
}

static int by_mutex(void) {
  for (int i = 0; i < 3 && !done; ++i) sched_yield();
  struct timespec until = in(1);
  if (pthread_mutex_timedlock(&held, &until) != 0) return 0;
  pthread_mutex_unlock(&held);
  return 1;
}

static int by_sleep(void) {
  usleep(100000);
  return done;
}

static void give_up(int signal) {
  (void)signal;
  if (!done) _exit(6);
}

static int by_timer(pthread_t thread) {
  signal(SIGALRM, give_up);
  alarm(7);
  pthread_join(thread, NULL);
  return 1;
}

int main(int count, char** arguments) {
  const char* kind = count > 1 ? arguments[1] : "epoll";
  sem_init(&posted, 0, 0);
  if (pipe(ends) != 0) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, strcmp(kind, "mutex") == 0 ? hold : work, NULL);
  int in_time = 1;
  if (strcmp(kind, "epoll") == 0) in_time = by_epoll();
  if (strcmp(kind, "poll") == 0) in_time = by_poll(1500);
  if (strcmp(kind, "long") == 0) in_time = by_poll(60000);
  if (strcmp(kind, "select") == 0) in_time = by_select();
  if (strcmp(kind, "condition") == 0) in_time = by_condition();
  if (strcmp(kind, "semaphore") == 0) in_time = by_semaphore();
  if (strcmp(kind, "mutex") == 0) in_time = by_mutex();
  if (strcmp(kind, "sleep") == 0) in_time = by_sleep();
  if (strcmp(kind, "timer") == 0) return by_timer(thread) ? 0 : 6;
  if (!in_time) _exit(6);
  pthread_join(thread, NULL);
  return 0;
}
