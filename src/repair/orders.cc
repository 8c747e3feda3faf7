// SPDX-License-Identifier: Apache-2.0
#include "repair/orders.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace duress::repair {

using trail::AtomicKind;

const char* order_text(u32 order) {
  constexpr const char* kTexts[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return order < std::size(kTexts) ? kTexts[order] : "?";
}

const char* kind_text(AtomicKind kind) {
  constexpr const char* kTexts[] = {"load", "store", "update", "compare-exchange", "fence"};
  return raw(kind) < std::size(kTexts) ? kTexts[raw(kind)] : "?";
}

std::vector<AtomicOperation> by_place(const std::vector<verify::AtomicUse>& uses) {
  std::vector<AtomicOperation> operations;
  for (const verify::AtomicUse& use : uses) {
    if (use.place.file.empty()) continue;
    auto same = std::find_if(operations.begin(), operations.end(), [&](const AtomicOperation& other) {
      const finding::Frame& place = other.first.place;
      return place.file == use.place.file && place.line == use.place.line &&
             place.column == use.place.column && other.first.kind == use.kind;
    });
    if (same == operations.end()) {
      operations.push_back({use, {use}});
    } else {
      same->all.push_back(use);
    }
  }
  std::sort(operations.begin(), operations.end(), [](const AtomicOperation& a, const AtomicOperation& b) {
    return std::tie(a.first.place.file, a.first.place.line, a.first.place.column, a.first.kind) <
           std::tie(b.first.place.file, b.first.place.line, b.first.place.column, b.first.kind);
  });
  return operations;
}

u32 load_order(u32 order) {
  return order == kSeqCst ? kSeqCst : order == kAcqRel || order == kAcquire ? kAcquire : kRelaxed;
}

void add_order(const AtomicOperation& operation, u32 order, u32 failing,
               std::vector<trail::WhatIfEdit>& edits) {
  for (const verify::AtomicUse& use : operation.all) {
    edits.push_back(trail::WhatIfEdit::reordered(use.kind, use.pc, static_cast<MemoryOrder>(order),
                                                 static_cast<MemoryOrder>(failing)));
  }
}

}  // namespace duress::repair
