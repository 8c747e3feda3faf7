// SPDX-License-Identifier: Apache-2.0
//
// The verdicts on a race, and the counts that go with them.
#pragma once

#include <cstdint>
#include <string_view>

namespace duress::finding {

enum class VerdictKind : std::uint32_t { kOpen, kDestructive, kSlower, kSameValue, kNoHarmFound };
/// As in --json; "" for kOpen.
const char* name_of(VerdictKind kind);
/// kOpen if no other verdict is called so.
VerdictKind verdict_named(std::string_view name);

/// Why a failure that needs no replaced value is charged to the race, if it is.
enum class ChargeReason {
  kNone,
  kSwitches,  // it comes less often without preemptions at the racing accesses
  kValues,    // it comes less often with other legal values for the racing loads and the same seeds
};

/// What JUMBLE's figure 10 tells of a variable.
struct Figures {
  std::uint64_t instances = 0, writes = 0, largest = 0, largest_uncompressed = 0, reads = 0;
  /// The greatest of each.
  void take(const Figures& other);
};

}  // namespace duress::finding
