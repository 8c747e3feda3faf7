// SPDX-License-Identifier: Apache-2.0
//
// Memory errors in the executions of duress::check, found by runtime/memory_guard.h in each of them. Most
// executions have no clocks and so no call stacks: a failing one is executed again with both for its report.
//
// The executions share the heap with the test around them. What was allocated before the check is unknown,
// and nothing is said of it; what a block is that was freed is known until its memory is given to another, or
// the execution ends; when the check ends everything is forgotten.
#pragma once

#include "base/text.h"
#include "duress/test_call.h"
#include "runtime/memory_guard.h"

namespace duress {

/// Until memory_guard_end().
void watch_memory(const DuressCheck& c, Runtime& runtime);
void memory_execution_begins();
void memory_execution_ends();

/// The last execution ended by one.
bool memory_error_found();
/// "uses heap memory that was freed: a.cc:5 reads". The same whether the execution had clocks or not.
void put_memory_error(Text& text);
/// The block, and the call stacks of access, free and allocation. Nothing if there was no error.
void put_memory_lines(Text& text);

}  // namespace duress
