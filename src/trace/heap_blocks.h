// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "event/event.h"

namespace duress::trace {

/// The blocks of the heap. Looked up only for findings, changed millions of times a second: changes are
/// collected and made many at a time, so that the places they go to can be on their way (a std::unordered_map
/// took 8 % of the analysis of hash_map).
/// Threads: one.
class HeapBlocks {
 public:
  struct Entry {
    uptr start;
    u64 size;
    Tid thread;
    StackId stack;
  };

  /// A block that was there with this start is gone.
  void add(const Entry& block) { change(block); }
  void remove(uptr start) { change({start, kGone, Tid{}, StackId{}}); }
  /// The block that holds an address.
  std::optional<Entry> find(uptr address);

 private:
  static constexpr u64 kGone = ~u64{0};
  static constexpr std::size_t kTogether = 4096;

  void change(const Entry& e) {
    changes_.push_back(e);
    if (changes_.size() == kTogether) settle();
  }
  std::size_t home(uptr start) const { return (start * 0x9e3779b97f4a7c15u) >> shift_; }
  void settle();
  void apply(const Entry& e);
  void grow();

  std::vector<Entry> changes_;
  // Open addressing. start 0: never used; size kGone: was used.
  std::vector<Entry> table_ = std::vector<Entry>(1u << 12);
  int shift_ = 64 - 12;
  std::size_t used_ = 0;  // entries that are not free
};

}  // namespace duress::trace
