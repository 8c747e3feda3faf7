// SPDX-License-Identifier: Apache-2.0
//
// Small integer names and the strong ids that travel between parts. An id of one kind does not
// convert to another: a thread is not a slot, a site is not a stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace duress {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using u128 = unsigned __int128;
using i64 = std::int64_t;
using uptr = std::uintptr_t;

/// A thread of the target, counted in order of creation, never reused.
enum class Tid : u32 {};
/// An index of vector clocks. Reused for a new thread when that is exact; see clock/slots.h.
enum class Slot : u16 {};
/// An access site; number 0 is "no site". What it means is in the binary's site table.
enum class SiteId : u32 {};
/// An interned call stack; 0 is the empty one.
enum class StackId : u32 {};
/// An interned set of held locks; 0 is the empty one.
enum class LockSetId : u16 {};

template <typename Enum>
constexpr auto raw(Enum e) {
  return static_cast<std::underlying_type_t<Enum>>(e);
}

#define DURESS_LIKELY(x) __builtin_expect(!!(x), 1)
#define DURESS_UNLIKELY(x) __builtin_expect(!!(x), 0)

}  // namespace duress
