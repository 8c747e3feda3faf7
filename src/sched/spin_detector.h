// SPDX-License-Identifier: Apache-2.0
//
// Await loops in systematic executions. A strand that comes to the same step again, with the same registers
// and the same stack, having changed nothing in between, would repeat the iteration for ever unless another
// strand writes something that it read. So it waits there for exactly that, and the iteration is explored
// once. Loops that count their attempts are not await loops: their local state differs each time, and every
// attempt is explored.
//
// Computing the local state costs microseconds, so it is done only where a strand was seen to come again. The
// step log keeps such places; the exploration then starts over, because what a strand waits for must not
// depend on what was found meanwhile.
#pragma once

#include "exhaustive/step_log.h"

namespace duress::sched {

struct Strand;
struct Callbacks;

/// What a strand has read since it last changed something.
struct SpinState {
  static constexpr u32 kMostVisits = 16, kMostReads = 16;
  struct Visit {  // of a step
    u64 key, state;
    u32 reads;  // read_count then
    u32 repeats;
  };
  struct Read {
    uptr object;
    u32 size;  // 0: of a lock
    u32 at;    // index in the log of the entry after it
  };
  Visit visits[kMostVisits];
  Read reads[kMostReads];
  u32 visit_count = 0, read_count = 0;
  u32 locked = 0;       // locks taken and not released meanwhile
  bool wrote = false;   // plain memory
  bool awaits = false;  // until another strand writes to one of the reads from `first` on
  u32 first = 0;
  u32 yields = 0;        // in a row, with no step in between
  bool parked = false;   // until another strand has performed a step
  u64 stepped_at = 0;    // steps of all when it performed its last one
  bool leaving = false;  // ends the process when no other strand can go on
  bool left = false;     // has waited for that, and performed no step since

  void forget() {
    visit_count = read_count = locked = 0;
    wrote = awaits = false;
  }
};

class SpinDetector {
 public:
  explicit SpinDetector(const Callbacks& callbacks) : callbacks_(callbacks) {}

  /// An execution begins. `everywhere`: every place counts as known; a replay need not be fast, and does not
  /// know what was found.
  void start(exhaustive::StepLog* log, bool everywhere) {
    log_ = log;
    everywhere_ = everywhere;
  }

  /// The strand comes to a step: decides whether it awaits something there.
  void at_step(Strand& s);
  /// The strand performs the step, the last one in the log.
  void performed(SpinState& spin, const exhaustive::Step& step) const;
  /// Whether another strand has written something that it waits for, since it was read in this iteration.
  bool sees_change(const Strand& s) const;
  /// Under a memory model: whether a strand waits although there is a newer store than the one it read. In
  /// time it would see that.
  bool misses_newer_store(const Strand* strands) const;
  /// Under a memory model: whether an iteration of a strand that waits had an effect, because it took a lock
  /// that another strand tried to take meanwhile. Exploring that iteration once is not enough then.
  bool lost_trylock(const Strand* strands) const;

 private:
  void await_reads(Strand& s, u32 first) const;
  void limit_spinning(const Strand& s) const;

  const Callbacks& callbacks_;
  exhaustive::StepLog* log_ = nullptr;
  bool everywhere_ = false;
};

}  // namespace duress::sched
