// SPDX-License-Identifier: Apache-2.0
//
// The reference for the explorer, and independent of it: every interleaving of a tiny program by brute force,
// counted by what its steps read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "exhaustive/testing/machine.h"

namespace duress::reads_from::testing {

/// The class of an execution as text: for each step of each thread, what it did and what it read; of what is
/// no atomic, which step wrote there before.
std::string class_of(const std::vector<exhaustive::Step>& history, size_t threads);
/// What a program can observe, without any notion of classes: the values that its steps found, who is left.
std::string outcome_of(const std::vector<exhaustive::Step>& history, size_t threads);

/// Every interleaving: its classes, and the outcomes of each. Gives up (returns false) after that many.
bool brute_force(const exhaustive::testing::Machine& machine, size_t threads,
                 std::map<std::string, std::string>& classes, u64& budget);

}  // namespace duress::reads_from::testing
