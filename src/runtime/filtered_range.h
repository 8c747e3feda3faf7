// SPDX-License-Identifier: Apache-2.0
//
// What checked bodies ask inline before they call a hook, for short ranges that the runtime sees itself
// (calls of the C library): have these bytes been accessed before in this epoch? Then there is nothing to do.
// A memcmp of 16 bytes in a loop 41 to 28 ns, an append to a string 62 to 45.
#pragma once

#include "runtime/runtime.h"
#include "shadow/epoch_filter.h"

namespace duress {

template <bool kWrite>
bool all_in_filter(uptr address, size_t size) {
  const DuressSelf& self = __duress_self;
  if (!EpochFilter::is_open(self)) return false;
  for (uptr at = address, end = address + size; at < end;) {
    uptr next = (at | 7) + 1;
    if (next > end) next = end;
    auto mask = static_cast<u8>(((1u << (next - at)) - 1) << (at & 7));
    if (!EpochFilter::contains<kWrite>(self, at, mask)) return false;
    at = next;
  }
  return true;
}

inline bool is_known_range(const void* p, size_t size, bool write) {
  constexpr size_t kShort = 256;
  if (size > kShort) return false;
  uptr address = reinterpret_cast<uptr>(p);
  return write ? all_in_filter<true>(address, size) : all_in_filter<false>(address, size);
}

}  // namespace duress
