// SPDX-License-Identifier: Apache-2.0
//
// The turn goes from one strand to the next: by a change of stacks where the carrier, one kernel thread, runs
// both; by a futex where a strand must be run by its own kernel thread. Both ways take the same decisions, so
// one trail gives the same execution on either backend.
#pragma once

#include "sched/callbacks.h"
#include "sched/strand.h"

namespace duress::sched {

/// Called by a kernel thread that has waited for its turn on its parking stack, instead of going on; null:
/// it goes on. Does not return.
extern void (*g_instead_of_turn)();

class Handoff {
 public:
  static constexpr size_t kParkingBytes = 16384;

  /// The strand that has the turn; null between executions.
  Strand* running() const { return running_; }
  void set_running(Strand* s) { running_ = s; }
  /// How many times the turn was handed over.
  u64 turns() const { return turns_; }

  /// Starts the carrier if there is none.
  void need_carrier(const Callbacks& callbacks);
  /// In a new thread, on its own kernel thread: parks it; returns when it gets the turn for the first time.
  void arrive(Strand* s);
  /// Returns when the running strand gets the turn back. REQUIRES: next is another one.
  void switch_to(Strand* next);
  /// The running strand goes on on its own kernel thread, from now on.
  void go_home();
  /// The running strand, at home, ends: the next one waits until its kernel thread is gone.
  void end(Strand* next);

  // ---- executions of a closure: the calling thread is the carrier
  void begin_closure() {
    running_ = nullptr;
    turns_ = 0;
    has_carrier_ = true;
  }
  /// Runs the strand, and whoever it hands the turn to, until one of them leaves.
  void run(Strand* s);
  /// The running strand stops; run() returns. Returns when the strand gets the turn again.
  void leave();

  /// After fork in the child: there is no carrier, the running strand runs on this kernel thread.
  void alone();

 private:
  void hand_over(Strand* next);
  /// First thing of a strand that got the turn.
  void await_last_end();
  static void park_new(void* strand, void*);
  static void park(void* strand, void* handoff);
  static void* run_carrier(void* handoff);

  Strand* running_ = nullptr;
  u64 turns_ = 0;
  bool on_carrier_ = false;  // the running strand is run by the carrier
  bool has_carrier_ = false;
  void* carrier_stack_pointer_ = nullptr;
  uptr carrier_thread_pointer_ = 0;
  Strand* carrier_next_ = nullptr;   // whom the carrier runs when it gets the turn
  Strand* return_target_ = nullptr;  // who gets the turn from a kernel thread that gives it up
  std::atomic<u32> carrier_turn_{0};
  int ending_ = 0;  // kernel thread of the strand that ended last; 0: it is gone
};

}  // namespace duress::sched
