// SPDX-License-Identifier: Apache-2.0
//
// A thread of the target as the runtime knows it. Made by the thread that creates it, so that its
// clock starts with what the creator knows; handed over to the new thread; kept until it is both
// ended and joined or detached.
#pragma once

#include "analysis/sync_engine.h"

namespace duress {

struct RecordBuffer;
struct Thread;
namespace memory {
class RememberedLoads;
}

/// What the runtime knows of a thread beside its synchronisation. The first part of a Thread, beside what
/// else is written in every execution: the large tables are at its end.
/// Threads: fields belong to the thread itself unless said otherwise.
struct RuntimeThread {
  explicit RuntimeThread(Tid id) : tid(id) {}

  Tid tid;

  /// Calls that were interned last: functions that call nothing push their frame anew for each access.
  struct KnownCall {
    u64 return_address;
    u32 caller, stack;
  };
  KnownCall calls[64] = {};
  KnownCall& known_call(u64 return_address) { return calls[(return_address ^ return_address >> 6) % 64]; }

  /// Set while the thread runs inside the runtime. A signal handler that interrupts it finds it set,
  /// and its accesses are not analysed.
  bool in_runtime = false;
  /// Set inside a ThreadUpkeep (sync.h).
  bool in_upkeep = false;

  std::atomic<u32> references{2};  // the running thread, and the one that may join it

  memory::RememberedLoads* loads = nullptr;  // if the memory model works on free threads

  RecordBuffer* record = nullptr;  // events that are not in the trace yet

  DuressFrame* frames_begin = nullptr;  // the shadow call stack
  size_t frames_bytes = 0;
  uptr stack_begin = 0, stack_end = 0;  // memory of its stack and static TLS

  Thread* next = nullptr;  // list of live threads, under Runtime::threads_lock
};

struct Thread : RuntimeThread, SyncThread {
  Thread(Arena& arena, Tid id, Slot slot, Clock first)
      : RuntimeThread(id), SyncThread(arena, id, slot, first) {}
};

/// Threads must not enter: a fork is about to happen, and the child must find the analyses consistent. Only
/// while chains run on free threads; FastTrack has a gate of its own.
extern std::atomic<bool> g_keep_out;
void wait_outside(Thread* t);

inline void enter_runtime(Thread* t) {
  t->in_runtime = true;
  std::atomic_signal_fence(
      std::memory_order_seq_cst);  // the thread that closes the gate runs barrier_all_threads()
  if (DURESS_UNLIKELY(g_keep_out.load(std::memory_order_relaxed))) wait_outside(t);
}

/// Marks the thread as inside the runtime for a scope. `entered()` is false if it already was (a signal
/// handler interrupted the runtime): then nothing may be done.
class InRuntime {
 public:
  explicit InRuntime(Thread* t) : thread_(t && !t->in_runtime ? t : nullptr) {
    if (thread_) enter_runtime(thread_);
  }
  ~InRuntime() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (thread_) thread_->in_runtime = false;
  }
  InRuntime(const InRuntime&) = delete;
  InRuntime& operator=(const InRuntime&) = delete;
  bool entered() const { return thread_ != nullptr; }

 private:
  Thread* thread_;
};

// constinit: else every use calls a function that might initialise it.
extern constinit thread_local Thread* t_current __attribute__((tls_model("initial-exec")));

/// The calling thread, or null when the runtime is asleep or the thread is unknown to it.
inline Thread* current_thread() {
  return t_current;
}
Thread* adopt_thread();
/// The same, but a thread that the runtime has not seen being created is noticed now.
inline Thread* current_thread_or_adopt() {
  return DURESS_LIKELY(t_current != nullptr) ? t_current : adopt_thread();
}

}  // namespace duress
