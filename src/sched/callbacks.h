// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler asks of the runtime around it.
#pragma once

#include "event/operation.h"
#include "trail/execution.h"

namespace duress::sched {

struct Strand;

struct Callbacks {
  /// Reports that the execution cannot go on, and ends the process or abandons the execution.
  void (*stuck)(trail::Outcome outcome);
  /// Records the running strand's call stack.
  void (*dump)(Strand& strand);
  void (*nobody_left)();  // the last strand has ended
  /// The running strand performs its operation. Only for requests that ask for a trace.
  void (*trace)(const Strand& strand);
  /// Systematic executions: the state of a semaphore or of a lock with readers, as in exhaustive::Touch.
  u64 (*state)(const Operation& operation);
  /// Systematic executions: a hash of the running strand's registers and stack.
  u64 (*local_state)(const Strand& strand);
  /// The running strand gives up its job; ends with give_up_job(). Null: nobody is called back.
  void (*give_up)(Strand& strand);
  /// A systematic execution comes to its first choice, which may be where an earlier one was. True: it is,
  /// and the request is another. Null: nobody is interested.
  bool (*first_choice)() = nullptr;
  /// The strand's wait, or the alarm, has timed out while others could run. Null: nobody wants to know.
  void (*timed_out_early)(const Strand& strand) = nullptr;
  /// A systematic execution meets limits of its exploration (exhaustive::StepLog) for the first time. Null:
  /// nobody wants to know where.
  void (*limited)(u32 limits, const Operation& operation) = nullptr;
};

}  // namespace duress::sched
