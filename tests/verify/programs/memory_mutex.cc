// SPDX-License-Identifier: Apache-2.0
//
// A mutex is destroyed by the first thread that is done with it; or while it is held; or initialised again.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DUSED failure use-after-destroy
// VERIFY-FAULT: -DTWICE failure use-after-destroy
// VERIFY-FAULT: -DHELD failure destroyed-in-use
// VERIFY-FAULT: -DAGAIN failure double-init
// VERIFY-FAULT: -DAGAIN_HELD failure double-init
#include <pthread.h>

#include <thread>

pthread_mutex_t mutex;
int shared = 0;

void use_local() {
  pthread_mutex_t local;  // in each call at the same place, and never destroyed
  pthread_mutex_init(&local, nullptr);
  pthread_mutex_lock(&local);
  ++shared;
  pthread_mutex_unlock(&local);
}

int main() {
  use_local();
  use_local();
  pthread_mutex_init(&mutex, nullptr);
  std::thread thread([] {
    pthread_mutex_lock(&mutex);
    ++shared;
#ifdef HELD
    pthread_mutex_destroy(&mutex);
#elif defined(AGAIN_HELD)
    pthread_mutex_init(&mutex, nullptr);
#else
    pthread_mutex_unlock(&mutex);
#endif
  });
  thread.join();
#ifdef USED
  pthread_mutex_destroy(&mutex);
  pthread_mutex_lock(&mutex);
#elif defined(TWICE)
  pthread_mutex_destroy(&mutex);
  pthread_mutex_destroy(&mutex);
#elif defined(AGAIN)
  pthread_mutex_init(&mutex, nullptr);
#else
  pthread_mutex_destroy(&mutex);
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_destroy(&mutex);
  mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
#endif
}
