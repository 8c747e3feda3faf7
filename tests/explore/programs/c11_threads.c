// SPDX-License-Identifier: Apache-2.0
//
// C11 threads: a slot for one value, filled and emptied under a mutex; the taker looks before it waits, but
// only once, and there are two takers.
//
// EXPECT-FAILURE: assertion
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int slot = 0;
static int given = 0;

static int give(void* value) {
  mtx_lock(&lock);
  slot = *(int*)value;
  ++given;
  cnd_broadcast(&changed);
  mtx_unlock(&lock);
  return 0;
}

static int take(void* unused) {
  (void)unused;
  mtx_lock(&lock);
  if (slot == 0 && given < 2) cnd_wait(&changed, &lock);  // should be a loop
  int taken = slot;
  slot = 0;
  assert(taken != 0 || given == 2);
  mtx_unlock(&lock);
  return taken;
}

int main(void) {
  int values[2] = {1, 2};
  thrd_t threads[4];
  mtx_init(&lock, mtx_plain);
  cnd_init(&changed);
  for (int i = 0; i < 2; ++i) {
    thrd_create(&threads[i], take, 0);
    thrd_create(&threads[2 + i], give, &values[i]);
  }
  for (int i = 0; i < 4; ++i) thrd_join(threads[i], 0);
  return 0;
}
