// SPDX-License-Identifier: Apache-2.0
//
// Two threads that add under a lock of spin.c. `spin`, `exchange`: which one. `broken`: the second thread takes none, and an update may be
// lost. `crossed`: two locks in opposite orders.
#include <assert.h>
#include <pthread.h>
#include <string.h>

void spin_lock(volatile int* lock);
void spin_unlock(volatile int* lock);
void exchange_lock(volatile int* lock);

static volatile int lock, other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static const char* kind;

/// Others may go first here.
static void pass(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void* add(void* second) {
  int locks = !(second && strcmp(kind, "broken") == 0);
  int crosses = strcmp(kind, "crossed") == 0;
  volatile int* first = crosses && second ? &other : &lock;
  for (int i = 0; i < 3; ++i) {
    if (locks && strcmp(kind, "exchange") == 0) {
      exchange_lock(first);
    } else if (locks) {
      spin_lock(first);
    }
    if (crosses) {
      pass();
      spin_lock(second ? &lock : &other);
    }
    int before = total;
    pass();
    total = before + 1;
    if (crosses) spin_unlock(second ? &lock : &other);
    if (locks) spin_unlock(first);
  }
  return NULL;
}

int main(int count, char** arguments) {
  kind = count > 1 ? arguments[1] : "spin";
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, add, NULL);
  pthread_create(&threads[1], NULL, add, &total);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  assert(total == 6);
  return 0;
}
