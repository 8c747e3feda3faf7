// SPDX-License-Identifier: Apache-2.0
//
// The handler of a timer runs while its thread waits for something else, and the wait goes on afterwards.
//
// EXPECT-NO-FAILURE
// WITHIN: 60
// RUN-ARGS: join
// RUN-ARGS: condition
// RUN-ARGS: mutex
// RUN-ARGS: processor
// RUN-ARGS: watchdog
// RUN-ARGS: child
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t posted;
static atomic_int ticks, enough;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void post(int signal) {
  (void)signal;
  ++ticks;
  sem_post(&posted);
}

static void start(int which, int signal, long microseconds) {
  sem_init(&posted, 0, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = post;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, NULL);
  struct itimerval time = {{0, microseconds}, {0, microseconds}};
  assert(setitimer(which, &time, NULL) == 0);
}

static void block_signals(void) {
  sigset_t set;
  sigfillset(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void await_posts(int wanted) {
  for (int i = 0; i < wanted; ++i) {
    while (sem_wait(&posted) != 0) {
    }
  }
}

static void* count_posts(void* unused) {
  (void)unused;
  block_signals();
  await_posts(3);
  enough = 1;
  return NULL;
}

static void* announce(void* unused) {
  (void)unused;
  block_signals();
  await_posts(3);
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* hold(void* unused) {
  (void)unused;
  block_signals();
  pthread_mutex_lock(&mutex);
  await_posts(3);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

/// All handlers run in the main thread, which waits for a thread that waits for them.
static void with(void* (*work)(void*)) {
  start(ITIMER_REAL, SIGALRM, 1000);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  if (work == announce) {
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
  } else if (work == hold) {
    while (ticks < 1) sched_yield();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  pthread_join(thread, NULL);
  assert(ticks >= 3);
}

/// Processor time passes while the thread computes, and not while it sleeps.
static void processor(void) {
  start(ITIMER_PROF, SIGPROF, 1000);
  while (ticks < 2) {
  }
  struct itimerval off;
  memset(&off, 0, sizeof off);
  setitimer(ITIMER_PROF, &off, NULL);
}

/// A timer whose signal nobody handles is there to end a program that hangs. This one does not.
static void* nap(void* unused) {
  (void)unused;
  for (int i = 0; i < 3; ++i) usleep(1000);
  return NULL;
}

static void watchdog(void) {
  alarm(5);
  pthread_t thread;
  pthread_create(&thread, NULL, nap, NULL);
  nap(NULL);
  pthread_join(thread, NULL);
}

/// A child has none of its parent's timers.
static void child(void) {
  start(ITIMER_REAL, SIGALRM, 1000);
  pid_t pid = fork();
  if (pid == 0) {
    struct itimerval time;
    getitimer(ITIMER_REAL, &time);
    _exit(time.it_value.tv_sec == 0 && time.it_value.tv_usec == 0 ? 0 : 1);
  }
  int status;
  while (waitpid(pid, &status, 0) != pid) {
  }
  assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char** arguments) {
  const char* name = count > 1 ? arguments[1] : "join";
  if (strcmp(name, "join") == 0) with(count_posts);
  if (strcmp(name, "condition") == 0) with(announce);
  if (strcmp(name, "mutex") == 0) with(hold);
  if (strcmp(name, "processor") == 0) processor();
  if (strcmp(name, "watchdog") == 0) watchdog();
  if (strcmp(name, "child") == 0) child();
  return 0;
}
