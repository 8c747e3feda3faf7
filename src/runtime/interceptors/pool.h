// SPDX-License-Identifier: Apache-2.0
//
// Threads that are reused. duress::check runs a closure tens of thousands of times a second; making a kernel
// thread takes longer than that. So a thread of the closure is a job for a parked pthread of a pool: when the
// job is done, its thread-local destructors are run, its storage is put back as it was, and it waits for the
// next one.
#pragma once

#include <pthread.h>

#include "runtime/control.h"

namespace duress {

/// Set while duress::check runs a closure.
extern bool g_pooling;

/// The calling strand belongs to a closure: its threads are jobs.
inline bool pooled() {
  return g_pooling && controlled() != nullptr;
}

/// A strand that will run job(argument). Null if no thread can be made.
sched::Strand* pool_take(void* (*job)(void*), void* argument, uptr created_at);
/// The strand of that thread in this execution. Null: none.
sched::Strand* pool_find(pthread_t id);
/// An execution has ended: strands that have ended can be used again.
void pool_end_execution(sched::Strand* strands);

// pthread_create and its kin in a closure.
int pool_create(pthread_t* id, bool detached, void* (*job)(void*), void* argument, uptr pc);
/// ETIMEDOUT, EINVAL, EDEADLK or 0.
int pool_join(sched::Strand* strand, void** value, u64 deadline, uptr pc);
int pool_detach(sched::Strand* strand);
/// pthread_exit: the job ends here.
[[noreturn]] void pool_exit(void* value);
/// For Scheduler::call_back().
[[noreturn]] void pool_give_up(sched::Strand& strand);

/// What duress::check wants to know about the pool's strands, to order their accesses.
struct StrandObserver {
  /// In the creator. Null creator: the root of an execution.
  void (*created)(sched::Strand* creator, sched::Strand* child);
  /// On the strand, whose thread-local storage has just been reset.
  void (*starts)(sched::Strand* strand);
  /// On the strand, after its thread-local destructors.
  void (*ends)(sched::Strand* strand);
  void (*joined)(sched::Strand* by, sched::Strand* child);
};
extern const StrandObserver* g_strand_observer;  // null: none

/// For thread-local objects with destructors: true if it was taken over.
bool pool_at_thread_end(void (*destroy)(void*), void* object);
void pool_key_made(pthread_key_t key, void (*destroy)(void*));
void pool_key_deleted(pthread_key_t key);

}  // namespace duress
