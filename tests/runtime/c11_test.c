/* SPDX-License-Identifier: Apache-2.0
 *
 * C11 threads, mutexes, conditions and call_once; and that a C program links without the C++ library. */
#include <threads.h>
#include <time.h>

#include "fake_sync.h"

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static int runs, ready;

static void count(void) {
  ++runs;
}

static int run(void* argument) {
  mtx_lock(&mutex);
  ready = 1;
  cnd_broadcast(&condition);
  mtx_unlock(&mutex);
  if (argument) thrd_exit(42);
  return 7;
}

int main(void) {
  fake_set_awake(1);
  fake_clear();
  const struct timespec past = {1, 0};

  CHECK(mtx_init(&mutex, mtx_timed) == thrd_success);
  CHECK(mtx_lock(&mutex) == thrd_success && mtx_trylock(&mutex) == thrd_busy);
  CHECK(mtx_timedlock(&mutex, &past) == thrd_timedout && mtx_unlock(&mutex) == thrd_success);
  CHECK(mtx_trylock(&mutex) == thrd_success && mtx_unlock(&mutex) == thrd_success);
  EXPECT_EVENTS({"forget", &mutex}, {"locked", &mutex}, {"unlocking", &mutex}, {"locked", &mutex},
                {"unlocking", &mutex});

  CHECK(cnd_init(&condition) == thrd_success);
  mtx_lock(&mutex);
  CHECK(cnd_timedwait(&condition, &mutex, &past) == thrd_timedout);
  CHECK(cnd_signal(&condition) == thrd_success);
  EXPECT_EVENTS({"forget", &condition}, {"locked", &mutex}, {"wait_begin", &mutex}, {"waits_on", &condition},
                {"wait_end_unsignalled", &mutex}, {"release_join", &condition});

  thrd_t thread;
  CHECK(thrd_create(&thread, run, NULL) == thrd_success);
  while (!ready) CHECK(cnd_wait(&condition, &mutex) == thrd_success);
  CHECK(mtx_unlock(&mutex) == thrd_success);
  int value;
  CHECK(thrd_join(thread, &value) == thrd_success && value == 7);
  CHECK(fake_find("wait_end", &mutex, fake_find("release_join", &condition, 0)) > 0);
  int ended = fake_find("thread_ended", NULL, 0);
  CHECK(ended > 0 && fake_find("thread_joined", fake_object(ended), ended) > ended);

  CHECK(thrd_create(&thread, run, &value) == thrd_success);
  CHECK(thrd_join(thread, &value) == thrd_success && value == 42);
  fake_clear();
  CHECK(thrd_create(&thread, run, NULL) == thrd_success && thrd_detach(thread) == thrd_success);
  while (fake_count("thread_ended") == 0) thrd_yield();
  CHECK(fake_count("thread_unreferenced") == 1);
  fake_clear();

  call_once(&flag, count);
  call_once(&flag, count);
  CHECK(runs == 1);
  EXPECT_EVENTS({"acquire", &flag}, {"release", &flag}, {"acquire", &flag}, {"acquire", &flag});

  cnd_destroy(&condition);
  mtx_destroy(&mutex);
  EXPECT_EVENTS({"forget", &condition}, {"forget", &mutex});
  return 0;
}
