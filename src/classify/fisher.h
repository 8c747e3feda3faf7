// SPDX-License-Identifier: Apache-2.0
//
// Do two rates differ by more than chance? A failure that came in 3 of 50 runs with something and in 0 of 50
// without it says nothing: that happens by chance in one of eight cases.
#pragma once

#include "base/types.h"

namespace duress::classify {

/// Some of a number of runs.
struct Share {
  u64 failed = 0, runs = 0;
};

/// Fisher's exact test, one-sided: the chance of a difference at least as great as this one, in this
/// direction, if both rates are the same. 1 if there is nothing to compare.
double fisher(const Share& higher, const Share& lower);

}  // namespace duress::classify
