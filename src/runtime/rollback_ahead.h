// SPDX-License-Identifier: Apache-2.0
//
// Several executions for one request of the host: trail/ahead.h. Called when a process has been put back, on
// the stack of rollback's own state.
#pragma once

#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress {

/// If the host has handed over another request, and the execution that has just been undone left nothing but
/// its record: moves the record aside and puts the next request where the execution finds it.
bool rollback_begin_ahead(trail::Request& request, trail::Record& record, exhaustive::StepLog& log);

}  // namespace duress
