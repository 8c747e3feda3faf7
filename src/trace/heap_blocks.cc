// SPDX-License-Identifier: Apache-2.0
#include "trace/heap_blocks.h"

#include <algorithm>

namespace duress::trace {

void HeapBlocks::apply(const Entry& e) {
  std::size_t mask = table_.size() - 1;
  for (std::size_t i = home(e.start);; i = (i + 1) & mask) {
    Entry& at = table_[i];
    if (at.start == e.start) {
      at = e;
      return;
    }
    if (at.start != 0) continue;
    if (e.size == kGone) return;
    at = e;
    if (++used_ > table_.size() / 2) grow();
    return;
  }
}

void HeapBlocks::grow() {
  std::vector<Entry> old;
  old.swap(table_);
  auto live = static_cast<std::size_t>(
      std::count_if(old.begin(), old.end(), [](const Entry& e) { return e.start != 0 && e.size != kGone; }));
  std::size_t size = 1u << 12;
  int bits = 12;
  while (size < live * 4) size *= 2, ++bits;
  table_.resize(size);
  shift_ = 64 - bits;
  used_ = 0;
  for (const Entry& e : old) {
    if (e.start != 0 && e.size != kGone) apply(e);
  }
}

void HeapBlocks::settle() {
  constexpr std::size_t kSoon = 16;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    if (i + kSoon < changes_.size()) __builtin_prefetch(&table_[home(changes_[i + kSoon].start)], 1);
    if (changes_[i].start != 0) apply(changes_[i]);
  }
  changes_.clear();
}

std::optional<HeapBlocks::Entry> HeapBlocks::find(uptr address) {
  settle();
  for (const Entry& e : table_) {
    if (e.start == 0 || e.size == kGone) continue;
    if (address >= e.start && address - e.start < std::max<u64>(e.size, 1)) return e;
  }
  return std::nullopt;
}

}  // namespace duress::trace
