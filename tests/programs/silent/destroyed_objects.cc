// SPDX-License-Identifier: Apache-2.0
//
// Locks and other objects that the last user destroys, ordered by nothing but these objects themselves.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <semaphore.h>

#include <condition_variable>
#include <mutex>
#include <thread>

/// Whoever is the last to leave destroys it.
struct Shared {
  pthread_mutex_t lock;
  int users = 2;
};

void leave(Shared* shared) {
  pthread_mutex_lock(&shared->lock);
  bool last = --shared->users == 0;
  pthread_mutex_unlock(&shared->lock);
  if (!last) return;
  pthread_mutex_destroy(&shared->lock);
  delete shared;
}

/// The waiter destroys what it was woken by.
struct Once {
  std::mutex lock;
  std::condition_variable done;
  bool is_done = false;
};

struct Meeting {
  pthread_barrier_t barrier;
  sem_t left;
};

int main() {
  for (int round = 0; round < 50; ++round) {
    auto* shared = new Shared;
    pthread_mutex_init(&shared->lock, nullptr);
    auto* once = new Once;
    auto* meeting = new Meeting;
    pthread_barrier_init(&meeting->barrier, nullptr, 2);
    sem_init(&meeting->left, 0, 0);
    std::thread other([=] {
      leave(shared);
      {
        std::lock_guard<std::mutex> guard(once->lock);
        once->is_done = true;
        once->done.notify_one();
      }
      pthread_barrier_wait(&meeting->barrier);
      sem_post(&meeting->left);
    });
    leave(shared);
    {
      std::unique_lock<std::mutex> guard(once->lock);
      once->done.wait(guard, [=] { return once->is_done; });
    }
    delete once;
    pthread_barrier_wait(&meeting->barrier);
    pthread_barrier_destroy(&meeting->barrier);
    sem_wait(&meeting->left);
    sem_destroy(&meeting->left);
    delete meeting;
    other.join();
  }
  return 0;
}
