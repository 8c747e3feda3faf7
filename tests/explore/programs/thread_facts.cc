// SPDX-License-Identifier: Apache-2.0
//
// What a program can ask the system about a thread, and do to one from outside: under control the kernel does
// not have its threads, and the program must not notice. Twice, because a stack is used again.
//
// EXPECT-NO-FAILURE
// WITHIN: 100
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

std::atomic<int> handled{0};
std::atomic<int> number{0};
pthread_mutex_t robust;
pthread_barrier_t begin, end;

void on_signal(int) {
  handled = gettid();
}

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
      abort();                                                                      \
    }                                                                               \
  } while (0)

void check_own_stack() {
  pthread_attr_t attributes;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  REQUIRE(error == 0);
  void* stack = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &stack, &bytes);
  auto low = reinterpret_cast<uintptr_t>(stack),
       here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  REQUIRE(here > low && here < low + bytes);
  pthread_attr_destroy(&attributes);
}

void* look_around(void*) {
  number = gettid();
  REQUIRE(gettid() != getpid() && syscall(SYS_gettid) == gettid());
  check_own_stack();
  REQUIRE(sched_getcpu() >= 0);
  clockid_t clock;
  timespec time;
  REQUIRE(pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &time) == 0);
  REQUIRE(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1) == 0 && handled == gettid());
  pthread_barrier_wait(&begin);
  pthread_barrier_wait(&end);
  char name[16] = {};
  REQUIRE(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "looked at") == 0);
  REQUIRE(prctl(PR_SET_NAME, "renamed") == 0 && prctl(PR_GET_NAME, name) == 0 &&
          strcmp(name, "renamed") == 0);
  REQUIRE(pthread_mutex_lock(&robust) == 0);
  return nullptr;  // with the lock
}

void ask_about(pthread_t id) {
  pthread_barrier_wait(&begin);
  REQUIRE(pthread_kill(id, 0) == 0 && tgkill(getpid(), number, 0) == 0);
  int policy = -1;
  sched_param parameters = {};
  REQUIRE(pthread_getschedparam(id, &policy, &parameters) == 0 && policy == SCHED_OTHER);
  REQUIRE(pthread_setschedparam(id, SCHED_BATCH, &parameters) == 0);
  REQUIRE(pthread_getschedparam(id, &policy, &parameters) == 0 && policy == SCHED_BATCH);
  pthread_attr_t attributes;
  REQUIRE(pthread_getattr_np(id, &attributes) == 0);
  pthread_attr_destroy(&attributes);
  cpu_set_t processors;
  REQUIRE(pthread_getaffinity_np(id, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) > 0);
  REQUIRE(pthread_setname_np(id, "a name that is too long") == ERANGE);
  REQUIRE(pthread_setname_np(id, "looked at") == 0);
  pthread_barrier_wait(&end);
}

void once() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Asked of the kernel by the creator, while the thread waits for it.
  cpu_set_t processors;
  sched_getaffinity(0, sizeof processors, &processors);
  pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
  sched_param parameters = {};
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_t id;
  REQUIRE(pthread_create(&id, &attributes, look_around, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  ask_about(id);
  REQUIRE(pthread_join(id, nullptr) == 0);
  REQUIRE(pthread_mutex_lock(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0);
  pthread_mutex_unlock(&robust);
  // A policy that this user, or any, may not have: no thread, and nothing is left of it.
  pthread_attr_init(&attributes);
  parameters.sched_priority = 99;
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  int error = pthread_create(&id, &attributes, [](void* p) { return p; }, nullptr);
  REQUIRE(error == 0 || error == EPERM);
  if (error == 0) pthread_join(id, nullptr);
  pthread_attr_destroy(&attributes);
}

pthread_t first;

void* join_first(void*) {
  void* value = nullptr;
  REQUIRE(pthread_join(first, &value) == 0 && value == &first);
  exit(0);
}

int main() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &kind);
  pthread_barrier_init(&begin, nullptr, 2);
  pthread_barrier_init(&end, nullptr, 2);
  once();
  once();
  first = pthread_self();
  pthread_t last;
  pthread_create(&last, nullptr, join_first, nullptr);
  pthread_exit(&first);
}
