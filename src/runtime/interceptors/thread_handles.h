// SPDX-License-Identifier: Apache-2.0
//
// From pthread_t to the runtime's thread. A pthread_t is reused as soon as its thread was joined, or has
// ended if it was detached, and the thread may be known to others (through pthread_self) before its creator
// hears of it. The creator must not read it back from where the C library put it: a detached thread may have
// freed that memory already. So the thread enrols itself, first of all, and a thread that looks for a number
// that is not there waits while threads are being created. A handle stays until its joiner takes it out,
// which is after the number may have been reused: if it is found twice, the youngest is meant.
#pragma once

#include <pthread.h>

#include "runtime/sync.h"

namespace duress {

namespace sched {
struct Strand;
}

/// A thread that the runtime saw being created. Fields after `next` are guarded by the table's lock.
struct ThreadHandle {
  Thread* thread = nullptr;         // null if nothing is detected
  sched::Strand* strand = nullptr;  // null if nothing is controlled

  // What the new thread needs; written by the creator before it starts.
  void* (*posix_function)(void*) = nullptr;
  int (*c11_function)(void*) = nullptr;
  void* argument = nullptr;
  u64 signal_mask = 0;
  bool restore_mask = false;

  int rounds = 0;  // of key destructors so far; the thread's own

  ThreadHandle* next = nullptr;
  pthread_t id = 0;
  u32 references = 1;  // the thread until it ends; the table; those who found it
  bool listed = false;
  bool detached = false;
  bool ended = false;
};

/// In the creator, before the real create; the handle is then the new thread's. abandon: the create failed.
ThreadHandle* make_handle(Thread* thread, bool detached);
void abandon_handle(ThreadHandle* handle);
/// In the new thread.
void enroll_handle(ThreadHandle* handle, pthread_t id);
/// The handle of a thread, to be dropped after use; null if the runtime did not see it being created.
ThreadHandle* find_handle(pthread_t id);
void drop_handle(ThreadHandle* handle);

// Each keeps the caller's reference.
void handle_joined(ThreadHandle* handle);
void handle_detached(ThreadHandle* handle);
void handle_ended(ThreadHandle* handle);

/// In thread_join.cc: the strand of a thread that has no kernel thread; null: it has one, or is not known.
sched::Strand* emulated_strand(pthread_t id);
/// In thread.cc: pthread_exit.
[[noreturn]] void exit_thread(void* value);

}  // namespace duress
