// SPDX-License-Identifier: Apache-2.0
//
// Two threads meet without being ordered: relaxed atomics say nothing about other memory. So the wrong half of
// a program has its race in every run, whoever takes which task.
#pragma once

#include <sched.h>

static inline void meet(int* arrived) {
  __atomic_fetch_add(arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(arrived, __ATOMIC_RELAXED) < 2) sched_yield();
}

/// For a task that the waiting thread may have to take itself: only one of the two waits.
static inline void arrive(int* arrived) {
  __atomic_store_n(arrived, 1, __ATOMIC_RELAXED);
}
static inline void wait_for(const int* arrived) {
  while (!__atomic_load_n(arrived, __ATOMIC_RELAXED)) sched_yield();
}
