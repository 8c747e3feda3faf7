// SPDX-License-Identifier: Apache-2.0
//
// Order that a race detector cannot see. A test of a race must execute both accesses in every run,
// often in a fixed order, yet any normal way to order them (a mutex, join, an acquire load) would
// also remove the race. These functions order threads in time only: every operation is relaxed,
// so it creates no happens-before even if it is instrumented, and the functions are not
// instrumented and not inlined, so that no access moves across a call. Usable from C and C++.
//
// `duress verify` looks at all orders, and needs none of this: with DURESS_ANY_ORDER the functions do nothing.
#ifndef DURESS_EXAMPLES_INVISIBLE_BARRIER_H_
#define DURESS_EXAMPLES_INVISIBLE_BARRIER_H_

#include <sched.h>

#define DURESS_INVISIBLE __attribute__((noinline, unused, no_sanitize("thread")))

/// Adds one to the counter.
static DURESS_INVISIBLE void invisible_signal(int* counter) {
#ifdef DURESS_ANY_ORDER
  (void)counter;
#else
  __asm__ volatile("" ::: "memory");
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  __asm__ volatile("" ::: "memory");
#endif
}

/// Returns when the counter is at least `count`.
static DURESS_INVISIBLE void invisible_wait(int* counter, int count) {
#ifdef DURESS_ANY_ORDER
  (void)counter, (void)count;
#else
  __asm__ volatile("" ::: "memory");
  while (__atomic_load_n(counter, __ATOMIC_RELAXED) < count) sched_yield();
  __asm__ volatile("" ::: "memory");
#endif
}

/// Returns when `threads` threads have called it. One use per counter.
static DURESS_INVISIBLE void invisible_barrier(int* counter, int threads) {
  invisible_signal(counter);
  invisible_wait(counter, threads);
}

/// Called by each of the program's threads before anything else: returns when `threads` of them have started, so that
/// they are alive at the same time in every run.
static DURESS_INVISIBLE void invisible_start(int threads) {
  static int started = 0;
  invisible_barrier(&started, threads);
}

#endif  // DURESS_EXAMPLES_INVISIBLE_BARRIER_H_
