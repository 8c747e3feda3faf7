// SPDX-License-Identifier: Apache-2.0
//
// The memory orders of C++ atomics, with the numbers that the compiler gives them.
#pragma once

#include "base/types.h"

namespace duress {

/// The __ATOMIC_* numbers.
enum class MemoryOrder : u8 {
  kRelaxed = 0,
  kConsume = 1,
  kAcquire = 2,
  kRelease = 3,
  kAcqRel = 4,
  kSeqCst = 5
};

constexpr bool acquires(MemoryOrder o) {
  return o != MemoryOrder::kRelaxed && o != MemoryOrder::kRelease;
}
constexpr bool releases(MemoryOrder o) {
  return o >= MemoryOrder::kRelease;
}

}  // namespace duress
