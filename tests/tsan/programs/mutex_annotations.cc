// SPDX-License-Identifier: Apache-2.0
//
// A spin lock of the program's own with relaxed atomics, which orders nothing by itself: the annotations say that
// it is a mutex.
//
// WRONG: counter
#include <sanitizer/tsan_interface.h>

#include <atomic>
#include <thread>

#ifdef WRONG
#define ANNOTATE(call)
#else
#define ANNOTATE(call) call
#endif

std::atomic<bool> taken;
int counter;

void add() {
  ANNOTATE(__tsan_mutex_pre_lock(&taken, 0));
  while (taken.exchange(true, std::memory_order_relaxed)) std::this_thread::yield();
  ANNOTATE(__tsan_mutex_post_lock(&taken, 0, 1));
  ++counter;
  ANNOTATE(__tsan_mutex_pre_unlock(&taken, 0));
  taken.store(false, std::memory_order_relaxed);
  ANNOTATE(__tsan_mutex_post_unlock(&taken, 0));
}

int main() {
  std::thread one(add), two(add);
  one.join();
  two.join();
  return counter == 2 ? 0 : 1;
}
