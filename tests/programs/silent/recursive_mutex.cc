// SPDX-License-Identifier: Apache-2.0
//
// Recursive and error-checking mutexes: only the outermost unlock lets another thread in.
//
// EXPECT-NO-RACE
#include <errno.h>
#include <pthread.h>

#include <mutex>
#include <thread>
#include <vector>

std::recursive_mutex recursive;
pthread_mutex_t checking;
int first = 0, second = 0;

void nested(int depth) {
  std::lock_guard lock(recursive);
  first++;
  if (depth > 0) nested(depth - 1);
  first++;
}

int main() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checking, &kind);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([] {
      for (int i = 0; i < 30; i++) {
        nested(3);
        pthread_mutex_lock(&checking);
        if (pthread_mutex_lock(&checking) == EDEADLK) second++;
        pthread_mutex_unlock(&checking);
      }
    });
  for (auto& thread : threads) thread.join();
  return first == 3 * 30 * 8 && second == 90 ? 0 : 1;
}
