// SPDX-License-Identifier: Apache-2.0
//
// Most executions that an exploration of all interleavings runs differ only in the order of atomic operations
// and locks: each strand touches the same memory in the same order, creates and joins the same strands. The
// answer of RacePrefilter depends on nothing else, so it is needed once for all of them. The digest is a
// number for all of these events, at less than two nanoseconds per access; here is also the set of digests of
// executions that cannot have a race.
//
// Two executions with the same digest of 64 bits are taken for equal: with a million different ones the
// probability that two of them are not is one in thirty million.
#pragma once

#include <string.h>

#include "base/prng.h"
#include "base/raw.h"
#include "base/types.h"

namespace duress {

/// Threads: the running strand.
class AccessDigest {
 public:
  static constexpr u32 kMostStrands = 64;  // further ones share a digest
  static constexpr u32 kRoom = 1u << 16;   // of the set

  enum class What : u64 {
    kRead = 0,
    kWrite = 1,
    kAtomicRead = 2,
    kAtomicWrite = 3,
    kCreated = 4,
    kJoined = 5
  };

  /// False: out of memory. To be called once, first.
  bool prepare() {
    if (!known_) known_ = static_cast<u64*>(map_memory(kRoom * sizeof(u64)));
    return known_ != nullptr;
  }
  /// Instead of prepare(): memory for the set, kRoom words that were 0 when it was first used.
  void use(u64* known) { known_ = known; }
  /// A new check: the set is empty.
  void forget() {
    if (count_) memset(known_, 0, kRoom * sizeof(u64));
    count_ = 0;
  }
  /// A new execution.
  void begin() { memset(of_strand_, 0, sizeof of_strand_); }

  static void add(u64* of_strand, u32 strand, u64 address, u64 size, What what) {
    u64& d = of_strand[strand % kMostStrands];
    d = ((d << 23 | d >> 41) ^ address ^ (size << 50) ^ (static_cast<u64>(what) << 47)) * 0x9e3779b97f4a7c15u;
  }
  void add(u32 strand, u64 address, u64 size, What what) { add(of_strand_, strand, address, size, what); }
  u64* of_strand() { return of_strand_; }

  /// The digest of all that was added since begin(). Never 0.
  u64 number() const { return number_of(of_strand_); }
  static u64 number_of(const u64 (&of_strand)[kMostStrands]) {
    u64 all = 0;
    for (u64 d : of_strand) all = mix(all ^ d) + 1;
    return all ? all : 1;
  }
  bool known(u64 number) const { return known_[find(number)] == number; }
  /// False: the set is full.
  bool remember(u64 number) {
    if (count_ >= kRoom / 2) return false;
    u64& at = known_[find(number)];
    count_ += at != number;
    at = number;
    return true;
  }

 private:
  u64 find(u64 number) const {
    u64 i = number % kRoom;
    while (known_[i] && known_[i] != number) i = (i + 1) % kRoom;
    return i;
  }

  u64* known_ = nullptr;
  u32 count_ = 0;
  u64 of_strand_[kMostStrands] = {};
};

}  // namespace duress
