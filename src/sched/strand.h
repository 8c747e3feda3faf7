// SPDX-License-Identifier: Apache-2.0
//
// A thread of the target as the scheduler keeps it. All that belongs to one execution is in StrandExecution,
// which another execution on the same kernel thread (duress::check) constructs anew; the kernel thread and
// its place in the pool outlive executions.
#pragma once

#include <atomic>
#include <new>

#include "sched/repetition.h"
#include "sched/spin_detector.h"
#include "sched/strand_view.h"
#include "sched/wait_outcome.h"

struct pollfd;

namespace duress::sched {

struct Strand;

inline constexpr u64 kNever = ~u64{0};

/// Why a wait ended.
enum class Wake : u8 { kNone, kWoken, kTimeout, kInterrupted };

/// Where a blocked strand waits, and until when.
struct WaitState {
  bool queued = false;
  Wake wake = Wake::kNone;        // of the last wait
  Wake outer_wake = Wake::kNone;  // of the wait that a visit has interrupted
  u64 deadline = kNever;
  u64 timeout = 0;  // how far the deadline was when the wait began
  uptr queue = 0;   // address of the object
  Strand* next_in_queue = nullptr;
  pollfd* descriptors = nullptr;  // waits for one of these
  u32 descriptor_count = 0;
  uptr relock = 0;  // in a wait on a condition: the mutex it takes afterwards
};

/// Exclusive locks that a strand holds, in the order they were taken.
struct HeldLocks {
  static constexpr u32 kMost = 8;  // if it holds more, the first ones
  struct Lock {
    uptr address;
    uptr taken_at;
    OpKind kind;
  };
  Lock locks[kMost];
  u32 count = 0;

  void add(uptr lock, const Operation& operation) {
    if (count == kMost) return;
    bool tried = operation.object == lock && operation.kind == OpKind::kTryLock;
    locks[count++] = {lock, operation.place, tried ? OpKind::kLock : operation.kind};
  }
  void remove(uptr lock) {
    u32 kept = 0;
    for (u32 i = 0; i < count; ++i) {
      if (locks[i].address != lock) locks[kept++] = locks[i];
    }
    count = kept;
  }
};

/// A bit for each signal.
struct SignalState {
  u64 pending = 0, blocked = 0;
  u64 awaited = 0;       // it is in sigwait() or the like
  u32 handlers = 0;      // how many have run
  bool restart = false;  // the last of them says that an interrupted call goes on
};

/// A timer of the program is chosen like a strand, but runs nothing: when it is chosen, or its time comes,
/// `expire` is called. It is never in the list of strands.
struct AlarmState {
  void (*expire)(Strand& alarm) = nullptr;  // null: not an alarm
  void* owner = nullptr;
  bool early = false;           // may be chosen while strands can run
  bool processor_time = false;  // its clock stands still while all strands wait
};

/// What belongs to one execution; Strand::reset() constructs it anew.
struct StrandExecution : StrandView {
  enum class State : u8 { kReady, kBlocked, kEnded };
  State state = State::kReady;
  bool stepping_back = false;  // spins: runs only when no other strand can, until something changes
  bool dump = false;           // gets the turn only to record its call stack
  bool preempted = false;      // spins where nobody sees it: a change does not end that
  bool visited = false;        // waits, but gets the turn to look after its signals
  bool in_visit = false;       // it does so
  u32 list_index = 0;          // in the ready or the spinning list of the run queue
  // In systematic executions (stepping.cc).
  bool at_step = false;  // is about to perform a step; else it only continues to its next step
  u32 children = 0;      // strands that it has created
  u64 start_key = 0;     // equal for strands that begin alike; 0: not known
  u64 child_key = 0;     // of the one that it created last,
  u64 child_made = 0;    // and its last step before that
  u64 path = 0;          // identifies it in every interleaving: see trail/strand_path.h

  WaitState wait;
  HeldLocks held;
  SignalState signals;
  AlarmState alarm;
  WaitOutcomes outcomes;
  SpinState spin;
  Repetition repetition;

  // The thread as the program knows it.
  Strand* next_strand = nullptr;  // list of all, oldest first
  u32 creator = 0;
  uptr created_at = 0;
  char name[16] = {};
  void* job_frame = nullptr;  // where the thread's function begins
  uptr caller_frame = 0;  // the stack pointer of the program's code, if it is known (runtime/gone_frames.h)
  void* result = nullptr;
  bool cancelled = false;  // by pthread_cancel, not acted on yet
  bool detached = false;
  bool joined = false;
  bool of_library = false;   // a thread of an OpenMP runtime, which joins it after main
  bool thread_made = false;  // by the program, which must join or detach it
};

/// Where the strand is while it does not run, and the kernel thread, real or emulated, whose stack and
/// storage it uses.
struct KernelThread {
  void* stack_pointer = nullptr;
  uptr thread_pointer = 0;
  std::atomic<u32> turn{0};     // the kernel thread sleeps while 0
  std::atomic<u32> arrived{0};  // it has parked for the first time
  int os_id = 0;
  char* parking_stack = nullptr;
  // Of one that the runtime emulates (runtime/thread_emulation.h), as the C library told the kernel.
  uptr stack_begin = 0;         // of the stack that the C library allocated; 0: it is the program's
  int* number_word = nullptr;   // set to zero when the thread is gone
  void* robust_list = nullptr;  // head of the list of robust mutexes that it holds
};

/// The job of a strand whose kernel thread serves many executions (runtime/interceptors/pool.cc).
struct PoolState {
  unsigned long thread = 0;  // pthread_t
  void* (*job)(void*) = nullptr;
  void* argument = nullptr;
  bool in_job = false;       // it has begun its job, or whatever it does then, and has not ended
  bool called_back = false;  // its execution was abandoned: it gives up its job as soon as it runs
  Strand* next_spare = nullptr;
};

struct Strand : StrandExecution {
  KernelThread kernel;
  PoolState pool;
  void* watched = nullptr;  // what a race detector keeps of it, over all executions

  /// Resets everything but the kernel thread, for another execution.
  void reset() { new (static_cast<StrandExecution*>(this)) StrandExecution; }
};

}  // namespace duress::sched
