// SPDX-License-Identifier: Apache-2.0
//
// What is written after a handler was installed is not ordered before its runs on other threads.
//
// EXPECT-RACE: too_late write-read @write @read
#include <pthread.h>
#include <signal.h>

#include <thread>

#include "invisible_barrier.h"

int too_late;
int seen = 0, step = 0;

static void handler(int) {
  if (too_late == 0) __builtin_trap();  // @read
  invisible_signal(&seen);
}

int main() {
  std::thread other([] {
    invisible_signal(&step);
    invisible_wait(&seen, 1);
  });
  invisible_wait(&step, 1);
  signal(SIGUSR1, handler);
  too_late = 1;  // @write
  pthread_kill(other.native_handle(), SIGUSR1);
  other.join();
  return 0;
}
