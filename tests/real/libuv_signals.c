// SPDX-License-Identifier: Apache-2.0
//
// Two loops that watch the same signal, in a thread each: a closed test in which duress classify can judge uv_signal_s::flags, which takes too long
// in libuv's own test of 34 threads.
#include <assert.h>
#include <signal.h>
#include <uv.h>

static void ignored(uv_signal_t* watcher, int number) {
  (void)watcher;
  (void)number;
}

static void watch(void* unused) {
  (void)unused;
  uv_loop_t loop;
  uv_signal_t watcher;
  assert(uv_loop_init(&loop) == 0);
  assert(uv_signal_init(&loop, &watcher) == 0);
  assert(uv_signal_start(&watcher, ignored, SIGUSR1) == 0);
  assert(uv_signal_stop(&watcher) == 0);
  uv_close((uv_handle_t*)&watcher, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert(uv_loop_close(&loop) == 0);
}

int main(void) {
  uv_thread_t threads[2];
  for (int i = 0; i < 2; i++) assert(uv_thread_create(&threads[i], watch, NULL) == 0);
  for (int i = 0; i < 2; i++) assert(uv_thread_join(&threads[i]) == 0);
  return 0;
}
