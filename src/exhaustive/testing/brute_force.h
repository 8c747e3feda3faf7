// SPDX-License-Identifier: Apache-2.0
//
// The reference for the explorer, and independent of it: every interleaving of a program by brute force,
// counted by happens-before.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exhaustive/testing/machine.h"

namespace duress::exhaustive::testing {

/// The class of an execution as text: for each step of each thread, what it did and all that came before it.
std::string class_of(const std::vector<Step>& history, size_t threads);

/// Every interleaving. Gives up (returns false) after that many.
bool brute_force(const Machine& machine, size_t threads, std::set<std::string>& classes, u64& budget);

}  // namespace duress::exhaustive::testing
