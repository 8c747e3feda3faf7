// SPDX-License-Identifier: Apache-2.0
//
// Locks and other objects that one thread makes or destroys while another uses them.
//
// EXPECT-RACE: r_mutex write-read
// EXPECT-RACE: r_try_mutex write-read
// EXPECT-RACE: r_rwlock write-read
// EXPECT-RACE: r_spin write-read
// EXPECT-RACE: r_condition write-read
// EXPECT-RACE: r_semaphore write-read
// EXPECT-RACE: r_barrier write-read
// EXPECT-RACE: d_mutex read-write
// EXPECT-RACE: d_rwlock read-write
// EXPECT-RACE: d_condition read-write
// EXPECT-RACE: d_semaphore read-write
// EXPECT-RACE: d_barrier read-write
// EXPECT-RACE: d_cxx_condition read-write
// OTHER-TOOLS: differ (names)
#include <pthread.h>
#include <semaphore.h>

#include <condition_variable>
#include <thread>

#include "invisible_barrier.h"

// Made by the first thread, used by the second.
pthread_mutex_t r_mutex, r_try_mutex;
pthread_rwlock_t r_rwlock;
pthread_spinlock_t r_spin;
pthread_cond_t r_condition;
sem_t r_semaphore;
pthread_barrier_t r_barrier;
// Used by the first, destroyed by the second.
pthread_mutex_t d_mutex;
pthread_rwlock_t d_rwlock;
pthread_cond_t d_condition;
sem_t d_semaphore;
pthread_barrier_t d_barrier;
alignas(std::condition_variable) char d_cxx_condition[sizeof(std::condition_variable)];
int step = 0;

void make_and_use() {
  pthread_mutex_init(&r_mutex, nullptr);
  pthread_mutex_init(&r_try_mutex, nullptr);
  pthread_rwlock_init(&r_rwlock, nullptr);
  pthread_spin_init(&r_spin, 0);
  pthread_cond_init(&r_condition, nullptr);
  sem_init(&r_semaphore, 0, 1);
  pthread_barrier_init(&r_barrier, nullptr, 1);
  pthread_mutex_lock(&d_mutex);
  pthread_mutex_unlock(&d_mutex);
  pthread_rwlock_rdlock(&d_rwlock);
  pthread_rwlock_unlock(&d_rwlock);
  pthread_cond_signal(&d_condition);
  sem_post(&d_semaphore);
  pthread_barrier_wait(&d_barrier);
  reinterpret_cast<std::condition_variable*>(d_cxx_condition)->notify_one();
}

void use_and_destroy() {
  pthread_mutex_lock(&r_mutex);
  pthread_mutex_unlock(&r_mutex);
  pthread_mutex_trylock(&r_try_mutex);
  pthread_rwlock_wrlock(&r_rwlock);
  pthread_spin_lock(&r_spin);
  pthread_cond_broadcast(&r_condition);
  sem_wait(&r_semaphore);
  pthread_barrier_wait(&r_barrier);
  pthread_mutex_destroy(&d_mutex);
  pthread_rwlock_destroy(&d_rwlock);
  pthread_cond_destroy(&d_condition);
  sem_destroy(&d_semaphore);
  pthread_barrier_destroy(&d_barrier);
  reinterpret_cast<std::condition_variable*>(d_cxx_condition)->~condition_variable();
}

int main() {
  pthread_mutex_init(&d_mutex, nullptr);
  pthread_rwlock_init(&d_rwlock, nullptr);
  pthread_cond_init(&d_condition, nullptr);
  sem_init(&d_semaphore, 0, 0);
  pthread_barrier_init(&d_barrier, nullptr, 1);
  new (d_cxx_condition) std::condition_variable;
  std::thread one([] {
    invisible_start(2);
    make_and_use();
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    use_and_destroy();
  });
  one.join();
  two.join();
  return 0;
}
