// SPDX-License-Identifier: Apache-2.0
//
// Threads: create → start, end → join, in every way a thread can begin and end.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "fake_sync.h"

static pthread_t start(void* (*f)(void*), void* argument = nullptr, const pthread_attr_t* a = nullptr) {
  pthread_t t;
  CHECK(pthread_create(&t, a, f, argument) == 0);
  return t;
}

static void join() {
  fake_clear();
  pthread_t t = start(
      [](void* p) -> void* {
        CHECK(fake_self() != nullptr);
        return static_cast<char*>(p) + 1;
      },
      const_cast<char*>("ab"));
  void* value;
  CHECK(pthread_join(t, &value) == 0 && *static_cast<char*>(value) == 'b');
  int created = fake_find("thread_created", nullptr, 0);
  const void* thread = fake_object(created);
  int started = fake_find("thread_started", thread, created),
      ended = fake_find("thread_ended", thread, started);
  CHECK(started > created && ended > started);
  EXPECT_EVENTS({"thread_created", thread}, {"thread_joined", thread});
#if !__has_feature(address_sanitizer)  // which ends the program at this call
  CHECK(pthread_join(pthread_self(), nullptr) == EDEADLK);
  EXPECT_NO_EVENTS();
#endif
}

static void timed_joins() {
  sem_t go;
  CHECK(sem_init(&go, 0, 0) == 0);
  auto wait = [](void* p) -> void* {
    sem_wait(static_cast<sem_t*>(p));
    return nullptr;
  };
  const timespec past = {1, 0};
  pthread_t t[3];
  for (auto& x : t) x = start(wait, &go);
  fake_clear();
  CHECK(pthread_tryjoin_np(t[0], nullptr) == EBUSY);
  CHECK(pthread_timedjoin_np(t[0], nullptr, &past) == ETIMEDOUT);
  CHECK(pthread_clockjoin_np(t[0], nullptr, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
  EXPECT_NO_EVENTS();
  for (int i = 0; i < 3; ++i) sem_post(&go);
  const timespec far = {1L << 40, 0};
  CHECK(pthread_timedjoin_np(t[0], nullptr, &far) == 0);
  CHECK(pthread_clockjoin_np(t[1], nullptr, CLOCK_MONOTONIC, &far) == 0);
  while (pthread_tryjoin_np(t[2], nullptr) == EBUSY) {
  }
  CHECK(fake_count("thread_joined") == 3);
  fake_clear();
}

/// What runs at a thread's end still belongs to the thread: thread_local destructors, key destructors, even
/// of keys that set themselves again.
static pthread_key_t key;
static int rounds = 0;
struct Local {
  ~Local() { CHECK(fake_find("thread_ended", nullptr, 0) < 0); }
};

static void destructors() {
  CHECK(pthread_key_create(&key, [](void* v) {
          CHECK(fake_find("thread_ended", nullptr, 0) < 0);
          if (++rounds < 3) pthread_setspecific(key, v);
        }) == 0);
  fake_clear();
  pthread_t t = start([](void*) -> void* {
    static thread_local Local local;
    (void)&local;
    pthread_setspecific(key, &key);
    return nullptr;
  });
  CHECK(pthread_join(t, nullptr) == 0 && rounds == 3);
  CHECK(fake_count("thread_ended") == 1);
  fake_clear();
}

static void exit_and_cancel() {
  pthread_t t = start([](void*) -> void* { pthread_exit(&key); });
  void* value;
  CHECK(pthread_join(t, &value) == 0 && value == &key);
  t = start([](void*) -> void* {
    for (;;) pause();
  });
  CHECK(pthread_cancel(t) == 0 && pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);
  CHECK(fake_count("thread_ended") == 2 && fake_count("thread_joined") == 2);
  fake_clear();
}

/// Waits until n threads have ended as far as the runtime knows.
static void wait_ended(int n) {
  while (fake_count("thread_ended") < n) sched_yield();
}

static void detached() {
  auto nothing = [](void*) -> void* { return nullptr; };
  fake_clear();
  pthread_t t = start(nothing);
  CHECK(pthread_detach(t) == 0);
  wait_ended(1);
  CHECK(fake_count("thread_unreferenced") == 1);
  start([](void*) -> void* {
    CHECK(pthread_detach(pthread_self()) == 0);
    return nullptr;
  });
  wait_ended(2);
  CHECK(fake_count("thread_unreferenced") == 2);
  // The memory of the pthread_t may be gone before its creator comes back.
  pthread_attr_t a;
  pthread_attr_init(&a);
  CHECK(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED) == 0);
  auto* place = new pthread_t;
  CHECK(pthread_create(
            place, &a,
            [](void* p) -> void* {
              delete static_cast<pthread_t*>(p);
              return nullptr;
            },
            place) == 0);
  wait_ended(3);
  CHECK(fake_count("thread_unreferenced") == 3 && fake_count("thread_joined") == 0);
  fake_clear();
  // A stack that no machine has: the creation fails.
  CHECK(pthread_attr_setstacksize(&a, size_t{1} << 50) == 0);
  CHECK(pthread_create(&t, &a, nothing, nullptr) == EAGAIN);
  const void* thread = fake_object(fake_find("thread_created", nullptr, 0));
  EXPECT_EVENTS({"thread_created", thread}, {"thread_not_created", thread});
  pthread_attr_destroy(&a);
}

/// A pthread_t comes again as soon as its thread was joined: each join must meet its own thread.
static void reuse() {
  int reused = 0;
  pthread_t last = 0;
  for (int i = 0; i < 50; ++i) {
    fake_clear();
    pthread_t t = start([](void*) -> void* { return const_cast<void*>(fake_self()); });
    reused += t == last;
    last = t;
    void* value;
    CHECK(pthread_join(t, &value) == 0);
    CHECK(fake_object(fake_find("thread_joined", nullptr, 0)) == value);
  }
  CHECK(reused > 0);
  fake_clear();
}

static void names() {
  CHECK(pthread_setname_np(pthread_self(), "main") == 0);
  CHECK(prctl(PR_SET_NAME, "again") == 0);
  EXPECT_EVENTS({"thread_named", nullptr}, {"thread_named", nullptr});
  sem_t go;
  CHECK(sem_init(&go, 0, 0) == 0);
  pthread_t t = start(
      [](void* p) -> void* {
        sem_wait(static_cast<sem_t*>(p));
        return const_cast<void*>(fake_self());
      },
      &go);
  CHECK(pthread_setname_np(t, "worker") == 0);
  CHECK(pthread_setname_np(t, "a name that is much too long") == ERANGE);
  sem_post(&go);
  void* value;
  pthread_join(t, &value);
  CHECK(fake_count("thread_named") == 1 && fake_find("thread_named", value, 0) >= 0);
  fake_clear();
}

/// The new thread has its creator's signal mask, although signals are held back while it starts.
static void signal_mask() {
  sigset_t mask, seen;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  pthread_t t = start(
      [](void* p) -> void* {
        pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(p));
        return nullptr;
      },
      &seen);
  pthread_join(t, nullptr);
  CHECK(sigismember(&seen, SIGUSR1) == 1 && sigismember(&seen, SIGUSR2) == 0 &&
        sigismember(&seen, SIGTERM) == 0);
  pthread_sigmask(SIG_SETMASK, nullptr, &seen);
  CHECK(sigismember(&seen, SIGUSR1) == 1 && sigismember(&seen, SIGUSR2) == 0);
#if !__has_feature(address_sanitizer)  // which forgets a mask that is set by attributes
  pthread_attr_t a;
  pthread_attr_init(&a);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_attr_setsigmask_np(&a, &mask);
  t = start(
      [](void* p) -> void* {
        pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(p));
        return nullptr;
      },
      &seen, &a);
  pthread_join(t, nullptr);
  CHECK(sigismember(&seen, SIGUSR1) == 0 && sigismember(&seen, SIGUSR2) == 1);
  pthread_attr_destroy(&a);
#endif
  fake_clear();
}

static void standard_thread() {
  int value = 0;
  std::thread t([&value] { value = 3; });
  t.join();
  CHECK(value == 3 && fake_count("thread_joined") == 1 && fake_count("thread_ended") == 1);
  fake_clear();
}

static void asleep() {
  fake_set_awake(0);
  pthread_t t = start([](void*) -> void* { return nullptr; });
  CHECK(pthread_join(t, nullptr) == 0);
  CHECK(fake_count("thread_created") == 0 && fake_count("thread_ended") == 0);
}

int main() {
  fake_set_awake(1);
  join();
  timed_joins();
  destructors();
  exit_and_cancel();
  detached();
  reuse();
  names();
  signal_mask();
  standard_thread();
  asleep();
}
