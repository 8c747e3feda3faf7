// SPDX-License-Identifier: Apache-2.0
#include "finding/verdict.h"

#include <algorithm>

namespace duress::finding {

const char* name_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kDestructive:
      return "destructive";
    case VerdictKind::kSlower:
      return "slower";
    case VerdictKind::kSameValue:
      return "same-value";
    case VerdictKind::kNoHarmFound:
      return "no-harm-found";
    case VerdictKind::kOpen:
      break;
  }
  return "";
}

VerdictKind verdict_named(std::string_view name) {
  for (VerdictKind kind : {VerdictKind::kDestructive, VerdictKind::kSlower, VerdictKind::kSameValue,
                           VerdictKind::kNoHarmFound}) {
    if (name == name_of(kind)) return kind;
  }
  return VerdictKind::kOpen;
}

void Figures::take(const Figures& other) {
  instances = std::max(instances, other.instances);
  writes = std::max(writes, other.writes);
  largest = std::max(largest, other.largest);
  largest_uncompressed = std::max(largest_uncompressed, other.largest_uncompressed);
  reads = std::max(reads, other.reads);
}

}  // namespace duress::finding
