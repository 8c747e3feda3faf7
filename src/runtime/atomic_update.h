// SPDX-License-Identifier: Apache-2.0
//
// What the read-modify-write operations of hooks.h compute; for the runtime and for its stub.
#pragma once

#include "base/types.h"
#include "duress/hooks.h"

namespace duress {

template <typename T>
T updated_value(T old, T v, u32 op) {
  switch (op) {
    case kDuressXchg:
      return v;
    case kDuressAdd:
      return static_cast<T>(old + v);
    case kDuressSub:
      return static_cast<T>(old - v);
    case kDuressAnd:
      return static_cast<T>(old & v);
    case kDuressOr:
      return static_cast<T>(old | v);
    case kDuressXor:
      return static_cast<T>(old ^ v);
    case kDuressNand:
      return static_cast<T>(~(old & v));
    case kDuressUMax:
      return old > v ? old : v;
    case kDuressUMin:
      return old < v ? old : v;
    default:
      break;
  }
  // Signed comparison: flip the sign bits and compare unsigned.
  T sign = static_cast<T>(T{1} << (sizeof(T) * 8 - 1));
  bool less = static_cast<T>(old ^ sign) < static_cast<T>(v ^ sign);
  return (op == kDuressMax) == less ? v : old;
}

}  // namespace duress
