// SPDX-License-Identifier: Apache-2.0
//
// How an integer that was read or written is shown in an interleaving, by the host and by duress::check: with
// its sign while it is small; beyond a million it is an address or a bit pattern, in hexadecimal.
#pragma once

#include "base/types.h"

namespace duress::trail {

struct ShownInteger {
  bool decimal;  // show `number`; else `bits`, in hexadecimal
  i64 number;
  u64 bits;
};

/// `size`: of the integer in bytes; 0 if it is not known.
inline ShownInteger shown_integer(u64 value, u32 size) {
  int unused = size != 0 && size < 8 ? 64 - static_cast<int>(size) * 8 : 0;
  u64 bits = value << unused >> unused;
  i64 number = static_cast<i64>(value << unused) >> unused;
  return {number > -1'000'000 && number < 1'000'000, number, bits};
}

}  // namespace duress::trail
