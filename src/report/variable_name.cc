// SPDX-License-Identifier: Apache-2.0
#include "report/variable_name.h"

#include <fmt/format.h>

#include "duress/hooks.h"
#include "finding/names.h"
#include "finding/text.h"

namespace duress::report {
namespace {

using finding::BlockKind;
using finding::Frame;

/// How good a site's name for its variable is; 0 is best. From `kWeak` on, where the memory lies says more:
/// what the C++ library calls its own fields (`_M_start`) names no variable of the user's, and gives a race
/// on one vector as many names as the vector has fields.
enum Rank { kNamed = 0, kElement = 1, kLocal = 2, kWeak = 3, kNone = 4 };

Rank rank(const Site& site, bool in_library) {
  if (site.variable.empty()) return kNone;
  if (in_library || site.variable.rfind("std::", 0) == 0) return kWeak;
  switch (site.variable_kind) {
    case kDuressGlobal:
    case kDuressField:
      return kNamed;
    case kDuressArray:
      return kElement;
    case kDuressLocal:
      return kLocal;
    case kDuressPointee:
      return kWeak;
    default:
      return kNone;
  }
}

VariableName heap_name(const finding::BlockReport& block) {
  const Frame origin = block.stack.empty() ? Frame{} : block.stack[finding::blamed_frame(block.stack)];
  VariableName name{fmt::format("heap block of {} bytes", block.size), "heap block"};
  if (origin.function.empty()) return name;
  name.text += fmt::format(" from {}()", origin.function);
  name.key += " from " + origin.function;
  if (!origin.file.empty())
    name.text += fmt::format(" ({}:{})", finding::base_name(origin.file), origin.line);
  return name;
}

}  // namespace

VariableName variable_name(const std::vector<NamingSite>& sites, const finding::BlockReport& block,
                           finding::Address address) {
  const Site* best = nullptr;
  Rank best_rank = kNone;
  for (const NamingSite& one : sites) {
    if (one.site == nullptr) continue;
    Rank this_rank = rank(*one.site, one.in_library);
    if (this_rank == kNone) continue;
    // Of two equally good names the same one whatever the order of the accesses.
    if (this_rank < best_rank || (this_rank == best_rank && one.site->variable < best->variable)) {
      best = one.site;
      best_rank = this_rank;
    }
  }
  if (best_rank < kWeak) return {best->variable, best->variable};
  if (!block.name.empty()) return {block.name, block.name};
  if (block.kind == BlockKind::kHeap) return heap_name(block);
  if (best != nullptr) return {best->variable, best->variable};
  if (block.kind == BlockKind::kStack || block.kind == BlockKind::kTls) {
    const char* what = block.kind == BlockKind::kStack ? "stack" : "thread-local memory";
    return {fmt::format("{} of T{}", what, block.thread), what};
  }
  return {fmt::format("{:#x}", address), ""};
}

}  // namespace duress::report
