// SPDX-License-Identifier: Apache-2.0
//
// Which threads of a program are alike (--symmetry): created one after the other by the same thread, which
// performs no step in between, with the same function and the same argument. That they can be exchanged is an
// assumption of the result: a program that tells them apart, by their ids or by what they return, breaks it.
// What is seen to break it is looked for in every execution.
#pragma once

#include <array>

#include "verify/verifier.h"

namespace duress::verify {

/// By strand: a number that alike strands share; 0: there is none like it.
using Alike = std::array<u8, exhaustive::kMostStrands>;

Alike alike_strands(const std::vector<exhaustive::StepLog::Origin>& origins);

/// Whether a strand performs a step after it has joined one of several alike strands and before it has joined
/// another: while that one may still run, they cannot be exchanged.
bool joins_apart(const std::vector<exhaustive::Step>& steps, const Alike& alike);

}  // namespace duress::verify
