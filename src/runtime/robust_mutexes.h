// SPDX-License-Identifier: Apache-2.0
//
// Robust mutexes that a thread leaves locked: the kernel finds them in a list that the C library keeps, and
// marks them, so that whoever locks one next is told (EOWNERDEAD).
#pragma once

#include <atomic>

#include "sched/strand.h"

namespace duress {

/// Calls visit(word) for the words of all that the thread holds. A word is at its mutex's address.
void visit_robust_mutexes(const sched::KernelThread& kernel, void (*visit)(std::atomic<u32>& word));
/// What the kernel does at the end of a thread.
void mark_abandoned(std::atomic<u32>& word);

}  // namespace duress
