// SPDX-License-Identifier: Apache-2.0
//
// Items are handed over by a semaphore and a lock; the length of the backlog is looked at without.
//
// truth: backlog harmless: the glance only keeps a record of the longest queue, within its bounds
#include <semaphore.h>

#include <mutex>
#include <thread>

sem_t items;
std::mutex mutex;
int backlog = 0;

int main() {
  sem_init(&items, 0, 0);
  int longest = 0, taken = 0;
  std::thread producer([] {
    for (int i = 0; i < 3; ++i) {
      {
        std::lock_guard guard(mutex);
        ++backlog;
      }
      sem_post(&items);
    }
  });
  std::thread consumer([&] {
    for (int i = 0; i < 3; ++i) {
      sem_wait(&items);
      int seen = backlog;
      if (seen > longest) longest = seen;
      std::lock_guard guard(mutex);
      --backlog;
      ++taken;
    }
  });
  producer.join();
  consumer.join();
  return taken == 3 && backlog == 0 && longest <= 3 ? 0 : 1;
}
