// SPDX-License-Identifier: Apache-2.0
//
// An object that is made by whoever needs it first: both make one; it is shown before it is filled; or the
// thread that makes it has not run yet.
//
// BUG init_twice: -DTWICE
// BUG init_shown_early: -DSHOWN_EARLY
// BUG init_not_yet: -DNOT_YET
// CORRECT init_once: -DONCE
#include "parallel.h"

static std::mutex mutex;
static std::atomic<int> made, shown, filled;
static std::once_flag once;

static void make() {
  ++made;
#ifdef SHOWN_EARLY
  shown = 1;
  filled = 1;
#else
  filled = 1;
  shown = 1;
#endif
}

static void use() {
#if defined(ONCE)
  std::call_once(once, make);
#elif !defined(NOT_YET)
  mutex.lock();
  bool missing = !shown;
  mutex.unlock();
#ifdef TWICE
  if (missing) make();
#else
  // The first one makes it; others leave if there is none yet.
  if (missing) return;
#endif
#endif
  assert(filled == 1 && made == 1);
}

int main() {
#if defined(SHOWN_EARLY) || defined(NOT_YET)
  in_parallel(make, use);
#else
  in_parallel(use, use);
#endif
}
