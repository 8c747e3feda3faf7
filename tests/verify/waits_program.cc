// SPDX-License-Identifier: Apache-2.0
//
// Threads that lock, wait and signal as the arguments say, one argument for each thread, a letter for each
// operation. waits.py counts what can happen.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstring>
#include <vector>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static std::atomic<int> word{0};
static bool flag = false;

/// Later each time: a deadline that has passed would be over at once. No clock is looked at.
static timespec deadline() {
  static thread_local int count = 0;
  return {2'000'000'000 + 1000 * ++count, 0};
}

static void* run(void* data) {
  for (const char* at = static_cast<const char*>(data); *at; ++at) {
    timespec until;
    switch (*at) {
      case 'l':
        pthread_mutex_lock(&mutex);
        break;
      case 'u':
        pthread_mutex_unlock(&mutex);
        break;
      case 'T':  // in time, or goes on after the unlock
        until = deadline();
        if (pthread_mutex_timedlock(&mutex, &until) != 0) at = strchr(at, 'u');
        break;
      case 'w':
        pthread_cond_wait(&condition, &mutex);
        break;
      case 't':  // if it is too late, stores
        until = deadline();
        if (pthread_cond_timedwait(&condition, &mutex, &until) != 0) word = 2;
        break;
      case 'W':
        while (!flag) pthread_cond_wait(&condition, &mutex);
        break;
      case 'P':
        while (!flag) {
          until = deadline();
          pthread_cond_timedwait(&condition, &mutex, &until);
        }
        break;
      case 'i':
        if (!flag) pthread_cond_wait(&condition, &mutex);
        break;
      case 'f':
        flag = true;
        break;
      case 's':
        pthread_cond_signal(&condition);
        break;
      case 'b':
        pthread_cond_broadcast(&condition);
        break;
      case 'A':  // if it is too late, stores
        until = deadline();
        if (sem_timedwait(&semaphore, &until) != 0) word = 2;
        break;
      case 'p':
        sem_post(&semaphore);
        break;
      case 'x':
        word = 1;
        break;
      case 'r':
        word.load();
        break;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

int main(int argc, char** argv) {
  sem_init(&semaphore, 0, 0);
  std::vector<pthread_t> threads(static_cast<size_t>(argc - 1));
  for (int i = 1; i < argc; ++i) pthread_create(&threads[static_cast<size_t>(i - 1)], nullptr, run, argv[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
