// SPDX-License-Identifier: Apache-2.0
//
// A thread forgets to unlock on one of its ways. A robust mutex may be left locked, and a detached thread
// need not be joined: of those nothing is said.
//
// EXPECT-VERIFY: 2 failure lock-kept
#include <pthread.h>

#include <atomic>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t robust;
std::atomic<bool> hurry{false};

void* work(void*) {
  pthread_mutex_lock(&m);
  if (hurry) return nullptr;
  pthread_mutex_unlock(&m);
  return nullptr;
}
void* set(void*) {
  hurry = true;
  return nullptr;
}
void* keep(void*) {
  pthread_mutex_lock(&robust);
  return nullptr;
}

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, work, nullptr);
  pthread_create(&threads[1], nullptr, set, nullptr);
  pthread_create(&threads[2], nullptr, keep, nullptr);
  pthread_detach(threads[2]);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
}
