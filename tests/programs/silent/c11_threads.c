// SPDX-License-Identifier: Apache-2.0
//
// C11 threads: thrd, mtx, cnd, tss and call_once.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer does not know C11 threads)
#include <stdatomic.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int data, ready, initialised, destroyed;

static void initialise(void) {
  initialised = 1;
}
static void destroy(void* value) {
  destroyed += *(int*)value;
}

static int work(void* argument) {
  static thread_local int mine = 3;
  call_once(&once, initialise);
  tss_set(key, &mine);
  mtx_lock(&mutex);
  data += initialised + *(int*)argument;
  ready = 1;
  cnd_signal(&condition);
  mtx_unlock(&mutex);
  return 7;
}

int main(void) {
  thrd_t thread;
  int argument = 41, result = 0;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  tss_create(&key, destroy);
  if (thrd_create(&thread, work, &argument) != thrd_success) return 1;
  mtx_lock(&mutex);
  while (!ready) cnd_wait(&condition, &mutex);
  int seen = data;
  mtx_unlock(&mutex);
  thrd_join(thread, &result);
  argument = 0;
  return seen == 42 && result == 7 && destroyed == 3 ? 0 : 1;
}
