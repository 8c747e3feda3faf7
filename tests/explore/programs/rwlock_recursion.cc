// SPDX-License-Identifier: Apache-2.0
//
// A lock that prefers writers, read-locked twice by one thread: a writer that comes between the two waits for
// the first, and the second waits for the writer.
//
// EXPECT-FAILURE: deadlock
#include <pthread.h>

#include <thread>

pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
int value = 0;

int read_value() {
  pthread_rwlock_rdlock(&lock);
  int seen = value;
  pthread_rwlock_unlock(&lock);
  return seen;
}

int main() {
  std::thread writer([] {
    pthread_rwlock_wrlock(&lock);
    ++value;
    pthread_rwlock_unlock(&lock);
  });
  pthread_rwlock_rdlock(&lock);
  int sum = value + read_value();
  pthread_rwlock_unlock(&lock);
  writer.join();
  return sum > 2 ? 1 : 0;
}
