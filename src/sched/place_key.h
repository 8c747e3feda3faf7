// SPDX-License-Identifier: Apache-2.0
//
// A name for the place where a strand performs an operation, the same in every process of a search: the host
// hands places from one execution to another. Made from line and column, and from the part of the address
// that does not depend on where the program was loaded.
#pragma once

#include "base/prng.h"
#include "event/operation.h"

namespace duress::sched {

inline constexpr uptr kWithinPage = 0xfff;

/// Never 0.
inline u32 place_key(const Operation& operation) {
  u64 word = u64{raw(operation.kind)} << 48 ^ u64 { operation.line } << 12 ^ (operation.place & kWithinPage);
  return static_cast<u32>(mix(word)) | 1;
}

}  // namespace duress::sched
