// SPDX-License-Identifier: Apache-2.0
//
// Mistakes with locks and threads that systematic executions (duress verify) end with: trail/outcome.h.
#pragma once

#include <pthread.h>

#include "sched/scheduler.h"
#include "trail/outcome.h"

namespace duress {

/// The running strand is about to unlock; the C library would not refuse.
void misuse_at_unlock(const pthread_mutex_t* mutex);
/// Its function has returned, or it has left through pthread_exit or a cancellation.
void misuse_at_thread_end();
/// It ends the process, by returning from main or by exit().
void misuse_at_exit();

/// A mutex was locked; a thread was made. Remembered, for what is found later.
void misuse_note_lock(const void* lock, uptr pc);
void misuse_note_thread(const sched::Strand* strand, const uptr* caller);

/// Where the mistake was made, if it was not where the running strand is; none: there.
struct MisuseCalls {
  static constexpr u32 kMost = 8;
  uptr pc[kMost];  // innermost first
  u32 count;
};
extern MisuseCalls g_misuse_calls;

}  // namespace duress
