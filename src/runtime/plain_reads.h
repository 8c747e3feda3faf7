// SPDX-License-Identifier: Apache-2.0
//
// Plain reads of what atomics have written, in executions that are explored by reads-from classes
// (Request::reads_from): such a class leaves open which of two atomic stores came first. Loads that are steps
// tell what they have read; a plain read that does not race is no step, as one after all threads are joined,
// and its value may depend on that order. So an execution with one sets StepLog::kPlainRead, if several
// strands have written there and not by updates alone, whose order is known from what they read.
#pragma once

#include "base/types.h"

namespace duress {

/// The execution begins: atomic writes are remembered and plain reads looked at.
void watch_plain_reads();
/// Some access was not seen: it may have been such a read.
void plain_read_missed();

/// An atomic store: as g_learn_atomic, which is told about updates too. Null: nothing is remembered.
extern void (*g_learn_store)(const void* p, u64 size);

}  // namespace duress
