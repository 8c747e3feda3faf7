// SPDX-License-Identifier: Apache-2.0
//
// A log is closed and opened again; a thread that logs in between loses its line, or finds no log. Plain
// variables: found only where racing accesses are places to switch.
//
// BUG log_lost_line: -DLINES=1
// BUG log_lost_line_20: -DLINES=20
// CORRECT log_locked: -DLINES=3 -DLOCKED
#include "parallel.h"

static std::mutex mutex;
static int is_open = 1, lines, wanted;

static void lock() {
#ifdef LOCKED
  mutex.lock();
#endif
}

static void unlock() {
#ifdef LOCKED
  mutex.unlock();
#endif
}

static void writer() {
  for (int i = 0; i < LINES; ++i) {
    lock();
    ++wanted;
    if (is_open) ++lines;
    unlock();
  }
}

static void rotate() {
  lock();
  is_open = 0;
  is_open = 1;
  unlock();
}

int main() {
  in_parallel(writer, rotate);
  assert(lines == wanted);
}
