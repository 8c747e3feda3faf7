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
