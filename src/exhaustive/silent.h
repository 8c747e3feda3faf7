// SPDX-License-Identifier: Apache-2.0
//
// A silent store: an exchange that writes the value that is there already. It is a write like others, but
// does not wake await loops: three threads at a test-and-set lock would wake each other forever.
#pragma once

#include "exhaustive/step.h"

namespace duress::exhaustive {

/// A further flag of Step: an exchange; its value is `expected`.
inline constexpr u8 kExchanges = 16;

inline bool silent(const Step& step) {
  return (step.flags & kExchanges) && step.touches && step.touch[0].size <= 8 &&
         step.touch[0].before == step.expected;
}

}  // namespace duress::exhaustive
