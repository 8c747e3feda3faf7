// SPDX-License-Identifier: Apache-2.0
//
// Between the files of duress::check: one execution, and what explorers need besides.
#ifndef DURESS_RUNTIME_CHECK_RUN_H_
#define DURESS_RUNTIME_CHECK_RUN_H_

#include "duress/test_call.h"
#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress {

/// Where the request of the next execution is written.
trail::Request& check_request();
/// Runs the closure once as the request says. True: it failed.
bool check_execute();
exhaustive::StepLog& check_steps();
/// What an exploration leaves out, in words; null: nothing.
const char* check_bound_of(u32 limits);

/// 0: no limit.
u64 check_deadline(const DuressCheck& c);
bool check_is_late(u64 deadline);

/// Every execution that rc11 allows, until one fails. True: one did; it is the last that was run.
bool explore_graphs(DuressCheck& c);

}  // namespace duress

#endif  // DURESS_RUNTIME_CHECK_RUN_H_
