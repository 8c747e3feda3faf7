// SPDX-License-Identifier: Apache-2.0
//
// Timers that call a function on a thread of their own, and timers that are descriptors: an event loop as servers have it.
//
// EXPECT-NO-FAILURE
// WITHIN: 60
// RUN-ARGS: thread
// RUN-ARGS: read
// RUN-ARGS: loop
// RUN-ARGS: stopped
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static sem_t called;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int calls, sum;

static void notify(union sigval value) {
  pthread_mutex_lock(&mutex);
  ++calls;
  sum += value.sival_int;
  pthread_mutex_unlock(&mutex);
  sem_post(&called);
}

static void with_thread(void) {
  sem_init(&called, 0, 0);
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = notify;
  event.sigev_value.sival_int = 7;
  assert(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
  struct itimerspec time = {{0, 1000000}, {0, 1000000}};
  assert(timer_settime(timer, 0, &time, NULL) == 0);
  for (int i = 0; i < 3; ++i) sem_wait(&called);
  assert(timer_delete(timer) == 0);
  pthread_mutex_lock(&mutex);
  assert(calls >= 3 && sum == calls * 7);
  pthread_mutex_unlock(&mutex);
}

static int timer_of(long first, long interval) {  // in milliseconds
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  assert(fd >= 0);
  struct itimerspec time = {{interval / 1000, interval % 1000 * 1000000},
                            {first / 1000, first % 1000 * 1000000}};
  assert(timerfd_settime(fd, 0, &time, NULL) == 0);
  return fd;
}

static void with_read(void) {
  int fd = timer_of(10, 10);
  uint64_t total = 0;
  while (total < 3) {
    uint64_t expired = 0;
    assert(read(fd, &expired, sizeof expired) == sizeof expired && expired >= 1);
    total += expired;
  }
  struct itimerspec left;
  assert(timerfd_gettime(fd, &left) == 0 && left.it_interval.tv_nsec == 10000000);
  close(fd);
}

static int work_pipe[2];

static void* work(void* unused) {
  (void)unused;
  usleep(25000);
  char byte = 1;
  assert(write(work_pipe[1], &byte, 1) == 1);
  return NULL;
}

static void with_loop(void) {
  assert(pipe(work_pipe) == 0);
  int timer = timer_of(10, 10), set = epoll_create1(0);
  struct epoll_event wanted = {EPOLLIN, {.fd = timer}};
  assert(epoll_ctl(set, EPOLL_CTL_ADD, timer, &wanted) == 0);
  wanted.data.fd = work_pipe[0];
  assert(epoll_ctl(set, EPOLL_CTL_ADD, work_pipe[0], &wanted) == 0);
  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  int done = 0;
  uint64_t ticks = 0;
  while (!done || ticks < 3) {
    struct epoll_event event;
    assert(epoll_wait(set, &event, 1, -1) == 1);
    if (event.data.fd == timer) {
      uint64_t expired;
      assert(read(timer, &expired, sizeof expired) == sizeof expired);
      ticks += expired;
    } else {
      char byte;
      done = read(work_pipe[0], &byte, 1) == 1;
    }
  }
  pthread_join(worker, NULL);
}

static void stopped(void) {
  int fd = timer_of(3600000, 0);
  struct itimerspec none;
  memset(&none, 0, sizeof none);
  assert(timerfd_settime(fd, 0, &none, NULL) == 0);
  int flags = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  uint64_t expired;
  assert(read(flags, &expired, sizeof expired) == -1 && errno == EAGAIN);
  int copy = dup(flags);
  struct itimerspec soon = {{0, 0}, {0, 1000}};
  assert(timerfd_settime(copy, 0, &soon, NULL) == 0);
  close(flags);
  sleep(1);
  assert(read(copy, &expired, sizeof expired) == sizeof expired && expired == 1);
}

int main(int count, char** arguments) {
  const char* name = count > 1 ? arguments[1] : "thread";
  if (strcmp(name, "thread") == 0) with_thread();
  if (strcmp(name, "read") == 0) with_read();
  if (strcmp(name, "loop") == 0) with_loop();
  if (strcmp(name, "stopped") == 0) stopped();
  return 0;
}
