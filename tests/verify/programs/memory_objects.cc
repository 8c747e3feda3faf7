// SPDX-License-Identifier: Apache-2.0
//
// Read-write locks, conditions and semaphores, POSIX and C11, that are used after their end, destroyed while a
// thread holds them or waits at them, or initialised twice. Which of them is chosen in the execution: each must
// be found.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DUSED failure use-after-destroy x5
// VERIFY-FAULT: -DBUSY failure destroyed-in-use x5
// VERIFY-ASSUMES-WITH: -DBUSY waits end only by signals
// VERIFY-FAULT: -DAGAIN failure double-init x5
#include <duress/annotate.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool there = false;

/// Says that the thread has what it wants, and never ends.
void stay() {
  std::unique_lock guard(mutex);
  there = true;
  for (;;) changed.wait(guard);
}

struct ReadWriteLock {
  static inline pthread_rwlock_t lock;
  static void make() { pthread_rwlock_init(&lock, nullptr); }
  static void destroy() { pthread_rwlock_destroy(&lock); }
  static void use() {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
  }
  static void keep_busy() {
    pthread_rwlock_rdlock(&lock);
    stay();
  }
};

struct Mutex {
  static inline mtx_t lock;
  static void make() { mtx_init(&lock, mtx_plain); }
  static void destroy() { mtx_destroy(&lock); }
  static void use() {
    mtx_lock(&lock);
    mtx_unlock(&lock);
  }
  static void keep_busy() {
    mtx_lock(&lock);
    stay();
  }
};

struct Condition {
  static inline pthread_cond_t condition;
  static void make() { pthread_cond_init(&condition, nullptr); }
  static void destroy() { pthread_cond_destroy(&condition); }
  static void use() { pthread_cond_signal(&condition); }
  static void keep_busy() {
    std::unique_lock guard(mutex);
    there = true;
    for (;;) pthread_cond_wait(&condition, mutex.native_handle());
  }
};

struct C11Condition {
  static inline cnd_t condition;
  static void make() { cnd_init(&condition); }
  static void destroy() { cnd_destroy(&condition); }
  static void use() { cnd_broadcast(&condition); }
  static void keep_busy() {
    std::unique_lock guard(mutex);
    there = true;
    for (;;) cnd_wait(&condition, reinterpret_cast<mtx_t*>(mutex.native_handle()));
  }
};

struct Semaphore {
  static inline sem_t semaphore;
  static void make() { sem_init(&semaphore, 0, 0); }
  static void destroy() { sem_destroy(&semaphore); }
  static void use() { sem_post(&semaphore); }
  static void keep_busy() {
    {
      std::lock_guard guard(mutex);
      there = true;
    }
    sem_wait(&semaphore);
  }
};

/// Objects that begin where others were destroyed, some of them by an assignment alone.
void use_locals() {
  {
    std::condition_variable made_without_a_call;
    made_without_a_call.notify_all();
    std::shared_mutex lock;
    std::shared_lock held(lock);
  }
  pthread_cond_t local = PTHREAD_COND_INITIALIZER;
  pthread_cond_signal(&local);
  pthread_cond_destroy(&local);
  local = PTHREAD_COND_INITIALIZER;
  pthread_cond_signal(&local);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_destroy(&lock);
  lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  pthread_rwlock_unlock(&lock);
}

template <typename Object>
void live() {
  Object::make();
#ifdef BUSY
  std::thread thread(Object::keep_busy);
  for (bool seen = false; !seen;) {
    std::lock_guard guard(mutex);
    seen = there;
  }
  {
    std::lock_guard guard(mutex);
  }  // meanwhile the thread has come to its wait
  Object::destroy();
  thread.join();
#endif
  Object::use();
#ifdef AGAIN
  Object::make();
#endif
  Object::destroy();
#ifdef USED
  Object::use();
#endif
  Object::make();
  Object::use();
  Object::destroy();
}

int main() {
  use_locals();
  use_locals();
  constexpr void (*kLives[])() = {live<ReadWriteLock>, live<Mutex>, live<Condition>, live<C11Condition>,
                                  live<Semaphore>};
  kLives[duress::nondet(5)]();
}
