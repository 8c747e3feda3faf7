// SPDX-License-Identifier: Apache-2.0
//
// A name for a strand that is the same in every interleaving: the ordinal it has among the strands that its
// creator made, then its creator's, and so on, one byte each. The main thread's path is 0.
#pragma once

#include "base/types.h"

namespace duress::trail {

inline constexpr u64 kNoPath = ~u64{0};  // created too deep or too late to have a path
constexpr u64 path_of(u64 creator, u32 ordinal) {
  return creator >> 56 || ordinal > 255 ? kNoPath : creator << 8 | ordinal;
}
constexpr u64 creator_of(u64 path) {
  return path >> 8;
}

}  // namespace duress::trail
