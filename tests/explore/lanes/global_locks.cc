// SPDX-License-Identifier: Apache-2.0
//
// A deadlock of mutexes inside globals; nothing else of them is accessed.
#include <mutex>
#include <thread>

struct Account {
  int balance = 100;
  std::mutex mutex;
};
static Account savings[2];
static struct {
  pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
} locks;

int main() {
  std::thread one([] {
    std::scoped_lock outer(savings[1].mutex);
    pthread_mutex_lock(&locks.second);  // one waits
    pthread_mutex_unlock(&locks.second);
  });
  std::thread other([] {
    pthread_mutex_lock(&locks.second);  // other locks
    savings[1].mutex.lock();
    savings[1].mutex.unlock();
    pthread_mutex_unlock(&locks.second);
  });
  one.join();
  other.join();
}
