// SPDX-License-Identifier: Apache-2.0
//
// A reader that finds the value out of date asks for the write lock while it holds the read lock, and waits
// for itself. It is out of date only if the writer has been there.
//
// EXPECT-FAILURE: deadlock
#include <pthread.h>

#include <thread>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int version = 0, cached = 0;

int main() {
  std::thread writer([] {
    pthread_rwlock_wrlock(&lock);
    ++version;
    pthread_rwlock_unlock(&lock);
  });
  std::thread reader([] {
    pthread_rwlock_rdlock(&lock);
    if (cached != version) {
      pthread_rwlock_wrlock(&lock);  // should give the read lock back first
      cached = version;
      pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
  });
  writer.join();
  reader.join();
}
