// SPDX-License-Identifier: Apache-2.0
//
// Mutexes, read-write locks, spin locks, semaphores and conditions: which events each call causes, and that
// results are those of the C library.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "fake_sync.h"

static const timespec kPast = {1, 0};

static void make(pthread_mutex_t* m, int type, int robust = PTHREAD_MUTEX_STALLED) {
  pthread_mutexattr_t a;
  CHECK(pthread_mutexattr_init(&a) == 0);
  CHECK(pthread_mutexattr_settype(&a, type) == 0);
  CHECK(pthread_mutexattr_setrobust(&a, robust) == 0);
  CHECK(pthread_mutex_init(m, &a) == 0);
  pthread_mutexattr_destroy(&a);
}

/// Runs f in another thread and waits for it; forgets the events of that.
template <typename F>
static void elsewhere(F f) {
  pthread_t t;
  CHECK(pthread_create(
            &t, nullptr,
            [](void* p) -> void* {
              (*static_cast<F*>(p))();
              return nullptr;
            },
            &f) == 0);
  CHECK(pthread_join(t, nullptr) == 0);
  fake_clear();
}

static void plain_mutex() {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  CHECK(pthread_mutex_lock(&m) == 0);
  CHECK(pthread_mutex_trylock(&m) == EBUSY);
  CHECK(pthread_mutex_timedlock(&m, &kPast) == ETIMEDOUT);
  CHECK(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &kPast) == ETIMEDOUT);
  CHECK(pthread_mutex_unlock(&m) == 0);
  EXPECT_EVENTS({"locked", &m}, {"unlocking", &m});
  CHECK(pthread_mutex_trylock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
  CHECK(pthread_mutex_timedlock(&m, &kPast) == 0 && pthread_mutex_unlock(&m) == 0);
  CHECK(pthread_mutex_clocklock(&m, CLOCK_REALTIME, &kPast) == 0 && pthread_mutex_unlock(&m) == 0);
  EXPECT_EVENTS({"locked", &m}, {"unlocking", &m}, {"locked", &m}, {"unlocking", &m}, {"locked", &m},
                {"unlocking", &m});
  CHECK(pthread_mutex_destroy(&m) == 0);
  EXPECT_EVENTS({"forget", &m});
}

/// A use is told before it acquires; a lock that nobody made by a call is left out.
static void mutex_as_object() {
  static pthread_mutex_t made, fixed = PTHREAD_MUTEX_INITIALIZER;  // where no other test had one
  fake_clear();
  CHECK(pthread_mutex_init(&made, nullptr) == 0);
  CHECK(fake_find("changed", &made, 0) == 0);
  CHECK(pthread_mutex_lock(&made) == 0 && pthread_mutex_unlock(&made) == 0);
  int used = fake_find("used", &made, 0);
  CHECK(used > 0 && fake_find("locked", &made, 0) == used + 1);
  CHECK(pthread_mutex_destroy(&made) == 0 && fake_find("changed", &made, used) > used);
  CHECK(pthread_mutex_lock(&fixed) == 0 && pthread_mutex_unlock(&fixed) == 0);
  CHECK(fake_find("used", &fixed, 0) == -1);
  fake_clear();
}

static void mutex_kinds() {
  pthread_mutex_t m;
  make(&m, PTHREAD_MUTEX_RECURSIVE);
  CHECK(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == 0);
  CHECK(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
  CHECK(pthread_mutex_unlock(&m) == EPERM);
  EXPECT_EVENTS({"forget", &m}, {"locked", &m}, {"locked", &m}, {"unlocking", &m}, {"unlocking", &m});

  make(&m, PTHREAD_MUTEX_ERRORCHECK);
  CHECK(pthread_mutex_lock(&m) == 0);
  CHECK(pthread_mutex_lock(&m) == EDEADLK);
  EXPECT_EVENTS({"forget", &m}, {"locked", &m});
  elsewhere([&m] {
    fake_clear();
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    EXPECT_NO_EVENTS();
  });
  CHECK(pthread_mutex_unlock(&m) == 0);
  EXPECT_EVENTS({"unlocking", &m});

  make(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  elsewhere([&m] { CHECK(pthread_mutex_lock(&m) == 0); });  // and dies
  CHECK(pthread_mutex_lock(&m) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&m) == 0);
  CHECK(pthread_mutex_unlock(&m) == 0);
  CHECK(pthread_mutex_unlock(&m) == EPERM);
  EXPECT_EVENTS({"locked", &m}, {"unlocking", &m});
  elsewhere([&m] { CHECK(pthread_mutex_lock(&m) == 0); });
  CHECK(pthread_mutex_lock(&m) == EOWNERDEAD);
  CHECK(pthread_mutex_unlock(&m) == 0);  // not made consistent: nobody gets it any more
  CHECK(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
  EXPECT_EVENTS({"locked", &m}, {"unlocking", &m});
}

static void read_write_lock() {
  pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
  CHECK(pthread_rwlock_rdlock(&l) == 0 && pthread_rwlock_tryrdlock(&l) == 0);
  CHECK(pthread_rwlock_trywrlock(&l) == EBUSY);
  CHECK(pthread_rwlock_timedwrlock(&l, &kPast) == ETIMEDOUT);
  CHECK(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_unlock(&l) == 0);
  EXPECT_EVENTS({"locked_shared", &l}, {"locked_shared", &l}, {"unlocking_shared", &l},
                {"unlocking_shared", &l});
  CHECK(pthread_rwlock_wrlock(&l) == 0);
  CHECK(pthread_rwlock_tryrdlock(&l) == EBUSY);
  CHECK(pthread_rwlock_unlock(&l) == 0);
  EXPECT_EVENTS({"locked", &l}, {"unlocking", &l});
  CHECK(pthread_rwlock_timedrdlock(&l, &kPast) == 0 && pthread_rwlock_unlock(&l) == 0);
  CHECK(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &kPast) == 0 && pthread_rwlock_unlock(&l) == 0);
  CHECK(pthread_rwlock_trywrlock(&l) == 0 && pthread_rwlock_unlock(&l) == 0);
  CHECK(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &kPast) == 0 && pthread_rwlock_unlock(&l) == 0);
  EXPECT_EVENTS({"locked_shared", &l}, {"unlocking_shared", &l}, {"locked_shared", &l},
                {"unlocking_shared", &l}, {"locked", &l}, {"unlocking", &l}, {"locked", &l},
                {"unlocking", &l});
  CHECK(pthread_rwlock_destroy(&l) == 0 && pthread_rwlock_init(&l, nullptr) == 0);
  EXPECT_EVENTS({"forget", &l}, {"forget", &l});
}

static void spin_lock() {
  pthread_spinlock_t l;
  const void* p = const_cast<int*>(&l);
  CHECK(pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE) == 0 && pthread_spin_lock(&l) == 0);
  CHECK(pthread_spin_trylock(&l) == EBUSY);
  CHECK(pthread_spin_unlock(&l) == 0 && pthread_spin_trylock(&l) == 0 && pthread_spin_unlock(&l) == 0);
  CHECK(pthread_spin_destroy(&l) == 0);
  EXPECT_EVENTS({"forget", p}, {"locked", p}, {"unlocking", p}, {"locked", p}, {"unlocking", p},
                {"forget", p});
}

static void semaphore() {
  sem_t s;
  CHECK(sem_init(&s, 0, 0) == 0);
  CHECK(sem_trywait(&s) == -1 && errno == EAGAIN);
  CHECK(sem_timedwait(&s, &kPast) == -1 && errno == ETIMEDOUT);
  for (int i = 0; i < 4; ++i) CHECK(sem_post(&s) == 0);
  CHECK(sem_wait(&s) == 0 && sem_trywait(&s) == 0 && sem_timedwait(&s, &kPast) == 0);
  CHECK(sem_clockwait(&s, CLOCK_MONOTONIC, &kPast) == 0);
  CHECK(sem_destroy(&s) == 0);
  EXPECT_EVENTS({"forget", &s}, {"release_join", &s}, {"release_join", &s}, {"release_join", &s},
                {"release_join", &s}, {"acquire", &s}, {"acquire", &s}, {"acquire", &s}, {"acquire", &s},
                {"forget", &s});
}

static void condition() {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c;
  CHECK(pthread_cond_init(&c, nullptr) == 0);
  CHECK(pthread_mutex_lock(&m) == 0);
  CHECK(pthread_cond_timedwait(&c, &m, &kPast) == ETIMEDOUT);
  CHECK(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &kPast) == ETIMEDOUT);
  CHECK(pthread_cond_signal(&c) == 0 && pthread_cond_broadcast(&c) == 0);
  CHECK(pthread_mutex_unlock(&m) == 0);
  CHECK(pthread_cond_destroy(&c) == 0);
  EXPECT_EVENTS({"forget", &c}, {"locked", &m}, {"wait_begin", &m}, {"waits_on", &c},
                {"wait_end_unsignalled", &m}, {"wait_begin", &m}, {"waits_on", &c},
                {"wait_end_unsignalled", &m}, {"release_join", &c}, {"release_join", &c}, {"unlocking", &m},
                {"forget", &c});

  make(&m, PTHREAD_MUTEX_ERRORCHECK);
  fake_clear();
  CHECK(pthread_cond_wait(&c, &m) == EPERM);
  EXPECT_NO_EVENTS();
}

static void signalled_wait() {
  struct Shared {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    bool waiting = false, done = false;
  } s;
  fake_clear();
  pthread_t t;
  pthread_create(
      &t, nullptr,
      [](void* p) -> void* {
        auto* d = static_cast<Shared*>(p);
        pthread_mutex_lock(&d->m);
        d->waiting = true;
        pthread_cond_signal(&d->c);
        while (!d->done) CHECK(pthread_cond_wait(&d->c, &d->m) == 0);
        pthread_mutex_unlock(&d->m);
        return nullptr;
      },
      &s);
  pthread_mutex_lock(&s.m);
  while (!s.waiting) pthread_cond_wait(&s.c, &s.m);
  s.done = true;
  pthread_cond_broadcast(&s.c);
  int signal = fake_find("release_join", &s.c, fake_find("release_join", &s.c, 0) + 1);
  pthread_mutex_unlock(&s.m);
  pthread_join(t, nullptr);
  int end = fake_find("wait_end", &s.m, signal);
  CHECK(signal >= 0 && end > signal);
  fake_clear();
}

/// A cancelled wait holds the mutex again when clean-up handlers run, and the runtime knows it by then.
static void cancelled_wait() {
  struct Shared {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    std::atomic<bool> waiting{false};
    int cleaned = 0;
  } s;
  pthread_t t;
  fake_clear();
  pthread_create(
      &t, nullptr,
      [](void* p) -> void* {
        auto* d = static_cast<Shared*>(p);
        pthread_mutex_lock(&d->m);
        pthread_cleanup_push(
            [](void* q) {
              auto* e = static_cast<Shared*>(q);
              CHECK(fake_find("wait_end_unsignalled", &e->m, 0) >= 0);
              CHECK(pthread_mutex_trylock(&e->m) == EBUSY);
              ++e->cleaned;
              pthread_mutex_unlock(&e->m);
            },
            d);
        d->waiting = true;
        for (;;) pthread_cond_wait(&d->c, &d->m);
        pthread_cleanup_pop(0);
        return nullptr;
      },
      &s);
  while (!s.waiting) sched_yield();
  pthread_mutex_lock(&s.m);  // it has given the mutex up: it waits
  pthread_mutex_unlock(&s.m);
  CHECK(pthread_cancel(t) == 0);
  void* value;
  CHECK(pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);
  CHECK(s.cleaned == 1);
  CHECK(fake_count("thread_ended") == 1);
  fake_clear();
}

/// The C++ library's code lies in a shared library: it must bind to the interceptors as well.
static void from_shared_library() {
  std::mutex m;
  std::condition_variable c;
  fake_clear();
  {
    std::unique_lock<std::mutex> hold(m);
    c.wait_until(hold, std::chrono::system_clock::time_point());
    c.notify_all();  // in libstdc++.so
  }
  CHECK(fake_find("release_join", c.native_handle(), 0) >= 0);
  EXPECT_EVENTS({"locked", &m}, {"wait_begin", &m}, {"waits_on", c.native_handle()},
                {"wait_end_unsignalled", &m}, {"release_join", c.native_handle()}, {"unlocking", &m});
  std::shared_mutex r;
  r.lock_shared();
  r.unlock_shared();
  r.lock();
  r.unlock();
  EXPECT_EVENTS({"locked_shared", &r}, {"unlocking_shared", &r}, {"locked", &r}, {"unlocking", &r});
}

static void asleep() {
  fake_set_awake(0);
  fake_clear();
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  CHECK(pthread_mutex_lock(&m) == 0 && pthread_cond_timedwait(&c, &m, &kPast) == ETIMEDOUT);
  CHECK(pthread_mutex_unlock(&m) == 0 && pthread_cond_signal(&c) == 0);
  EXPECT_NO_EVENTS();
}

int main() {
  fake_set_awake(1);
  fake_clear();
  plain_mutex();
  mutex_as_object();
  mutex_kinds();
  read_write_lock();
  spin_lock();
  semaphore();
  condition();
  signalled_wait();
  cancelled_wait();
  from_shared_library();
  asleep();
}
