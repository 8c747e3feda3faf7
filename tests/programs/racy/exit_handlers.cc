// SPDX-License-Identifier: Apache-2.0
//
// An exit handler and a destructor race with a detached thread, after main has returned.
//
// EXPECT-RACE: late write-write
// EXPECT-RACE: later write-read
#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int late = 0, later = 0;
int main_done = 0, written = 0;

struct Last {
  ~Last() {
    if (later != 1) std::_Exit(1);
  }
} last;

int main() {
  std::atexit([] {
    invisible_signal(&main_done);
    invisible_wait(&written, 1);
    late = 2;
  });
  std::thread([] {
    invisible_wait(&main_done, 1);
    late = 1;
    later = 1;
    invisible_signal(&written);
    for (;;) std::this_thread::yield();
  }).detach();
  return 0;
}
