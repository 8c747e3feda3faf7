// SPDX-License-Identifier: Apache-2.0
//
// Main uses, or takes away, what a thread still works on: a result that nobody waited for, memory that is
// given back, a part of the work for all of it.
//
// BUG join_result: -DRESULT
// BUG join_freed: -DFREED
// BUG join_partial: -DPARTIAL
// CORRECT join_all: -DJOINED
#include <cstdlib>

#include "parallel.h"

struct Task {
  std::atomic<bool> alive{true};
  std::atomic<int> result{0};
};
static Task task;

static void work() {
  for (int i = 1; i <= 3; ++i) {
    if (!task.alive) abort();
    task.result = i;
  }
}

int main() {
  std::thread helper([] {}), worker(work);
  helper.join();
#ifdef JOINED
  worker.join();
#endif
#ifdef FREED
  task.alive = false;
#else
  int result = task.result;
#ifdef PARTIAL
  // A thread that has done nothing yet must not be taken for one that has done all.
  if (result == 1 || result == 2) abort();
#else
  assert(result == 3);
#endif
#endif
#ifndef JOINED
  worker.join();
#endif
}
