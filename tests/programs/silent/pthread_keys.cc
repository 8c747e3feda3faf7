// SPDX-License-Identifier: Apache-2.0
//
// Destructors of pthread keys run in the ending thread, ordered before join.
//
// EXPECT-NO-RACE
#include <pthread.h>

#include <cstdlib>

pthread_key_t key;
int destroyed = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int last[2];

void destroy(void* block) {
  int* value = static_cast<int*>(block);
  last[*value] = 1;
  pthread_mutex_lock(&mutex);
  destroyed++;
  pthread_mutex_unlock(&mutex);
  std::free(block);
}

void* work(void* argument) {
  int* value = static_cast<int*>(std::malloc(sizeof(int)));
  *value = *static_cast<int*>(argument);
  pthread_setspecific(key, value);
  return nullptr;
}

int main() {
  pthread_key_create(&key, destroy);
  int ids[2] = {0, 1};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], nullptr, work, &ids[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_key_delete(key);
  return destroyed == 2 && last[0] + last[1] == 2 ? 0 : 1;
}
