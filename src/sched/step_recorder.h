// SPDX-License-Identifier: Apache-2.0
//
// Writes the steps of a systematic execution to the step log (exhaustive/step_log.h): what each touches, what
// it found there, and which waiter a signal wakes or how a wait ends, which is part of the step. A step's
// effect follows from the object's state right before it: no other strand runs in between.
#pragma once

#include "sched/callbacks.h"
#include "sched/choices.h"
#include "sched/spin_detector.h"
#include "sched/wait_queues.h"

namespace duress::sched {

class StepRecorder {
 public:
  StepRecorder(WaitQueues& queues, Choices& choices, SpinDetector& spins, const Callbacks& callbacks)
      : queues_(queues), choices_(choices), spins_(spins), callbacks_(callbacks) {}

  void set_log(exhaustive::StepLog* log) { log_ = log; }
  exhaustive::StepLog& log() { return *log_; }
  /// A systematic execution begins. `weak`: atomics may read older stores.
  void start(bool weak);
  /// Any other execution begins.
  void start_without_steps() {
    weak_ = false;
    steps_ = 0;
  }
  bool weak() const { return weak_; }
  u64 steps() const { return steps_; }
  /// A reason why the exploration is not complete (StepLog::k...).
  void limit(u32 reason) { log_->limits |= reason; }
  /// The same, met at that operation of the running strand.
  void limit(u32 reason, const Operation& operation) {
    const u32 first = reason & ~log_->limits;
    log_->limits |= reason;
    if (DURESS_UNLIKELY(first != 0) && callbacks_.limited) callbacks_.limited(first, operation);
  }
  /// The step of the running strand; null if there was no room for it.
  exhaustive::Step* last() { return log_->count < log_->room ? &log_->steps[log_->count - 1] : nullptr; }

  /// The strand is chosen and is about to perform its step.
  void write_step(Strand& s);
  /// What the strand does next happens after all that the other one did.
  void write_after(Strand& s, const Strand& other);
  /// The execution ends: the steps that were not performed.
  void write_pending(const Strand* strands);
  /// Whom the running strand's signal wakes.
  Strand* waiter_to_wake(const WaitQueues::Object& o);

 private:
  void describe(const Strand& s, exhaustive::Step* step) const;
  void describe_operation(const Strand& s, exhaustive::Step* step) const;
  u64 lock_state(uptr lock) const { return queues_.holder_of(lock) ? exhaustive::kWriter : 0; }
  void choose_waiter(const WaitQueues::Object& o);
  void choose_wait_end(Strand& s, exhaustive::Step* step);

  WaitQueues& queues_;
  Choices& choices_;
  SpinDetector& spins_;
  const Callbacks& callbacks_;
  exhaustive::StepLog* log_ = nullptr;
  bool weak_ = false;
  u64 steps_ = 0;              // so far
  Strand* to_wake_ = nullptr;  // by the signal that is performed
};

}  // namespace duress::sched
