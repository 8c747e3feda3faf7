// SPDX-License-Identifier: Apache-2.0
//
// A round-robin hint: where to begin looking for a free slot.
//
// truth: next_slot harmless: any beginning finds a slot; slots are taken under the lock
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned next_slot;
static int slots[4];

static void* take(void* unused) {
  (void)unused;
  unsigned begin = next_slot;
  next_slot = (begin + 1) % 4;
  pthread_mutex_lock(&mutex);
  for (unsigned i = 0; i < 4; ++i) {
    unsigned slot = (begin + i) % 4;
    if (slots[slot]) continue;
    slots[slot] = 1;
    break;
  }
  pthread_mutex_unlock(&mutex);
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, take, 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return slots[0] + slots[1] + slots[2] + slots[3] == 3 ? 0 : 1;
}
