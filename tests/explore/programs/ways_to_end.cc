// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a thread can end, all used well: return, pthread_exit through frames with destructors, a
// cancellation with a handler that unlocks, thread-specific data, detached threads, an exception that is
// caught.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <pthread.h>

#include <atomic>
#include <cassert>
#include <semaphore>
#include <stdexcept>
#include <thread>

std::atomic<int> destroyed{0}, freed{0};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
pthread_key_t key;
std::counting_semaphore<2> detached_done{0};

struct Guard {
  ~Guard() { ++destroyed; }
};

void* leave(void*) {
  Guard guard;
  pthread_setspecific(key, &key);
  pthread_exit(&lock);
}

void unlock(void* mutex) {
  pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex));
}

void* wait_for_ever(void*) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, &lock);
  for (;;) pthread_cond_wait(&never, &lock);
  pthread_cleanup_pop(1);
  return nullptr;
}

int main() {
  pthread_key_create(&key, [](void*) { ++freed; });
  pthread_t leaver, waiter;
  pthread_create(&leaver, nullptr, leave, nullptr);
  pthread_create(&waiter, nullptr, wait_for_ever, nullptr);
  for (int i = 0; i < 2; ++i) std::thread([] { detached_done.release(); }).detach();
  std::thread thrower([] {
    try {
      Guard guard;
      throw std::runtime_error("caught");
    } catch (const std::runtime_error&) {
    }
  });

  void* result = nullptr;
  pthread_join(leaver, &result);
  assert(result == &lock);
  assert(freed == 1);
  pthread_cancel(waiter);
  pthread_join(waiter, &result);
  assert(result == PTHREAD_CANCELED);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  thrower.join();
  assert(destroyed == 2);
  detached_done.acquire();
  detached_done.acquire();
}
