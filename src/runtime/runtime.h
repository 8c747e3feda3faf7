// SPDX-License-Identifier: Apache-2.0
//
// The runtime of one process: the only place where hooks, clocks, analyses and the log meet. There is
// one, made when the first instrumented module is loaded and DURESS_OPTIONS asks for it; otherwise the
// process stays asleep and every function runs its plain body.
#pragma once

#include "analysis/chain.h"
#include "clock/slots.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/reporter.h"
#include "runtime/site_points.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

extern "C" {
extern constinit thread_local DuressSelf __duress_self __attribute__((tls_model("initial-exec")));
extern DuressFrame __duress_scratch_frames[];
extern DuressFilterEntry __duress_no_filter;
extern DuressFilterEntry duress_full_filter;
}

namespace duress {

/// What inline code sees where every access is to call its hook, and where none is.
inline DuressSelf self_that_asks(DuressFrame* frames) {
  return {&__duress_no_filter, 0, ~u64{0}, 0, frames};
}
inline DuressSelf self_that_passes(DuressFrame* frames) {
  return {&duress_full_filter, 0, 0, duress_full_filter.key, frames};
}

enum class VolatileMode : u8 { kPlain, kRelaxed, kAcqRel };

struct Runtime {
  explicit Runtime(const Options& parsed);

  Options options;
  Arena arena;
  Log log;
  Modules modules{arena, log};
  StackDepot stacks;
  LockSets lock_sets{arena};
  HeapTable heap{arena};
  ThreadTable threads;
  Reporter reporter{{arena, log, modules, stacks, lock_sets, heap, threads}, options.halt_ != 0};
  ShadowMap shadow;
  SyncTable syncs{arena};
  FastTrack fasttrack{arena, shadow, syncs, reporter};
  AnalysisContext analysis_context{arena, reporter, reporter, lock_sets, &fasttrack};
  Chain chain{arena};
  SyncEngine engine{{arena, syncs, lock_sets, fasttrack, chain}};
  Recorder* recorder = nullptr;  // the chain is Record: events go to a trace
  SitePoints points;
  bool controlled = false;
  /// Accesses and synchronisation are analysed. Not in controlled executions that only schedule.
  bool detecting = true;
  /// Of these, accesses too: not while only clocks are wanted, for a memory model.
  bool checking = true;
  /// The chain is FastTrack alone: checked bodies call it directly, without events.
  bool direct = true;
  /// Only the first access of an epoch is needed: FastTrack alone, or a recorder of first accesses.
  bool firsts = true;
  bool checks_atomics = true;  // FastTrack is in the chain
  VolatileMode volatile_mode = VolatileMode::kPlain;

  SpinLock threads_lock;  // guards slots, threads.add, live
  Slots slots{arena};
  Thread* live = nullptr;
  SpinLock mixed_lock;  // atomics of different sizes that overlap

  std::atomic<bool> finished{false};

  std::atomic<u32> fd_channels_in[4096] = {};   // by descriptor: what a read learns from
  std::atomic<u32> fd_channels_out[4096] = {};  // what a write releases to
  std::atomic<u32> next_channel{3};
  bool fork_from_within = false;

  /// Starts the process's log with its `start` line.
  void log_start();
  /// Whether every access is wanted, not the first of each epoch alone.
  bool every_access() const;
  /// A module's functions are to run their checked or faithful bodies.
  void wake(const DuressModule* module);
  Thread* make_thread(Tid parent, StackId created_at, const VectorClock& creator);
  /// The calling thread becomes the first one.
  void enter_main_thread();
  /// The calling thread becomes `t`: its call stack, its inline state.
  void enter_thread(Thread* t);
  /// The process ends: the chain reports, the log gets its last line.
  void finish(int code);
  /// A fork child writes a log of its own.
  void after_fork_in_child();

  StackId context(Thread& t) {
    DuressFrame* top = __duress_self.frames;
    auto depth = static_cast<size_t>(top - t.frames_begin);
    if (DURESS_UNLIKELY(depth * sizeof(DuressFrame) > t.frames_bytes)) return StackId{0};  // scratch frames
    StackId stack = stacks.intern(t.frames_begin, top);
    if (depth >= 1)
      t.known_call(top[-1].return_address) = {top[-1].return_address, caller_node(top, depth), raw(stack)};
    return stack;
  }
  /// The same if it was asked for before, in this frame or in one that was called from the same place.
  bool known_context(Thread& t, StackId* stack) const {
    DuressFrame* top = __duress_self.frames;
    auto depth = static_cast<size_t>(top - t.frames_begin);
    if (DURESS_UNLIKELY(depth > t.frames_bytes / sizeof(DuressFrame))) return false;
    if (!depth) {  // the function that the thread started with
      *stack = StackId{0};
      return true;
    }
    u64 node = top[-1].node;
    if (!node) {
      const Thread::KnownCall& call = t.known_call(top[-1].return_address);
      if (call.return_address != top[-1].return_address || call.caller != caller_node(top, depth) ||
          (depth >= 2 && !top[-2].node))
        return false;
      top[-1].node = node = call.stack;
    }
    *stack = static_cast<StackId>(node);
    return true;
  }
  StackId context(Thread& t, uptr pc) { return stacks.push(context(t), pc); }

 private:
  static u32 caller_node(const DuressFrame* top, size_t depth) {
    return depth >= 2 ? static_cast<u32>(top[-2].node) : 0;
  }
  void write_stats();
};

/// Where the calling thread's stack is.
void find_stack(Thread& t);
/// For duress::check in a process that was started by itself: the runtime wakes, detecting nothing.
Runtime* wake_for_check();

}  // namespace duress
