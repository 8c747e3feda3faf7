// SPDX-License-Identifier: Apache-2.0
//
// The turn goes from one strand to the next: by a change of stacks where the carrier, one kernel thread, runs
// both; by a futex where each strand is run by its own kernel thread. Both ways take the same decisions, so
// one trail gives the same execution on either backend. The carrier is the process's first kernel thread, or
// the caller of duress::check.
#pragma once

#include "sched/callbacks.h"
#include "sched/strand.h"

namespace duress::sched {

class Handoff {
 public:
  static constexpr size_t kParkingBytes = 16384;

  /// The strand that has the turn; null between executions.
  Strand* running() const { return running_; }
  void set_running(Strand* s) { running_ = s; }
  /// The calling kernel thread runs all strands, from the running one on.
  void carry() { on_carrier_ = true; }
  /// How many times the turn was handed over.
  u64 turns() const { return turns_; }

  /// In a new thread, on its own kernel thread: parks it; returns when it gets the turn for the first time.
  void arrive(Strand* s);
  /// The same of one without a kernel thread: goes back to its creator, which waits at `load`.
  void arrive(Strand* s, void* load, uptr storage);
  /// Returns when the running strand gets the turn back. REQUIRES: next is another one.
  void switch_to(Strand* next);
  /// The running strand ends, and the next one gets the turn: if the strand has a kernel thread, when that is
  /// gone; else by leave_ended().
  void end(Strand* next);
  [[noreturn]] void leave_ended();

  // ---- executions of a closure: the calling thread is the carrier
  void begin_closure() {
    running_ = nullptr;
    turns_ = 0;
  }
  /// Runs the strand, and whoever it hands the turn to, until one of them leaves.
  void run(Strand* s);
  /// The running strand stops; run() returns. Returns when the strand gets the turn again.
  void leave();

  /// After fork in the child: the running strand runs on this kernel thread.
  void alone();

 private:
  void hand_over(Strand* next);
  /// First thing of a strand that got the turn.
  void await_last_end();
  static void park_new(void* strand, void*);
  static void park(void* strand, void* handoff);

  Strand* running_ = nullptr;
  u64 turns_ = 0;
  bool on_carrier_ = false;  // the running strand is run by the carrier
  void* carrier_stack_pointer_ = nullptr;
  uptr carrier_thread_pointer_ = 0;
  Strand* return_target_ = nullptr;  // who gets the turn from a strand that gives it up
  int ending_ = 0;                   // kernel thread of the strand that ended last; 0: it is gone
};

}  // namespace duress::sched
