// SPDX-License-Identifier: Apache-2.0
//
// What a systematic execution reports with call stacks, beside its steps. Written by the target, each entry
// once per execution; read by `duress verify`.
#pragma once

#include "trail/what_if.h"

namespace duress::trail {

struct SideEvent {
  enum class Kind : u64 {
    kJoined = 1,     // the strand of path `joiner` joined the one of path `joined`; see WhatIfEdit::kJoined
    kClockRead = 2,  // the program read a clock while timeouts were explored
    kLimited = 3,    // the execution first met one of exhaustive::StepLog::Limit
  };
  static constexpr u32 kMostCalls = 14;

  Kind kind;
  u64 joined, joiner;     // kJoined
  u64 limits, object;     // kLimited: bits, and the object of the operation
  u64 calls[kMostCalls];  // return addresses, innermost first; 0: there are no more

  bool operator==(const SideEvent&) const = default;
};

/// An atomic operation or fence that ran, and the memory orders it had.
struct AtomicProfileEntry {
  static constexpr u32 kMostCalls = 8;

  AtomicKind kind;
  MemoryOrder order, failure_order;
  u16 unused;
  u64 calls[kMostCalls];  // return addresses, that of the hook first; 0: there are no more

  bool operator==(const AtomicProfileEntry&) const = default;
};
static_assert(sizeof(AtomicProfileEntry) == 72);

}  // namespace duress::trail
