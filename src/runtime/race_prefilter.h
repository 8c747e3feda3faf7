// SPDX-License-Identifier: Apache-2.0
//
// Whether an execution of duress::check can have a data race, found without vector clocks for every access:
// is there a pair of accesses to the same four bytes, at least one of them plain and at least one a write,
// that the creation and joining of threads does not order? Locks and atomics are not considered, so a pair
// need not be a race; but an execution without a pair has none. One with a pair is run again with clocks
// (check/races.h).
//
// Nine accesses of ten touch memory that only one strand ever touches: its stack, its heap blocks. So the
// strand that first touches a granule of eight bytes, in any execution of the check, owns it, and its
// accesses there are dropped after one comparison. When another strand comes, the granule is shared for the
// rest of the check and the execution is run again, this time with all accesses seen (must_rerun()). Granules
// that only atomic operations touch are dropped too.
//
// It may report a pair that is none, and never misses one: FastTrack on half granules, with one reader and
// one atomic access remembered and a flag for "there are more".
#pragma once

#include <string.h>

#include "base/raw.h"
#include "base/types.h"

namespace duress {

/// Threads: the running strand. Strands are named by their number in the execution.
class RacePrefilter {
 public:
  static constexpr u32 kMostStrands = 64;
  static constexpr u32 kSlots = 1u << 15;
  static constexpr size_t kOwnerBytes = kSlots * sizeof(u64), kShadowBytes = kSlots * size_t{36};

  /// False: out of memory. To be called once, first.
  bool prepare() {
    if (!owners_) owners_ = static_cast<u64*>(map_memory(kOwnerBytes));
    if (!shadows_) shadows_ = static_cast<Shadow*>(map_memory(kShadowBytes));
    return owners_ && shadows_;
  }
  /// Instead of prepare(): memory that was 0 when it was first used.
  void use(void* owners, void* shadows) {
    owners_ = static_cast<u64*>(owners);
    shadows_ = static_cast<Shadow*>(shadows);
  }
  /// A new check: no granule has an owner.
  void forget() {
    for (u32 i = 0; i < used_; ++i) owners_[used_slots_[i]] = 0;
    used_ = 0;
  }

  /// A new execution, with strand 0 only.
  void begin() {
    if (++execution_ == 0) {  // shadows of four billion executions ago would look new
      memset(static_cast<void*>(shadows_), 0, kSlots * sizeof(Shadow));
      execution_ = 1;
    }
    unjoined_ = strands_ = 1;
    race_possible_ = must_rerun_ = false;
    memset(clocks_[0], 0, sizeof clocks_[0]);
    clocks_[0][0] = 1;
  }

  void created(u32 parent, u32 child) {
    ++unjoined_;
    if (child >= kMostStrands || clocks_[parent][parent] == kMostEpochs) race_possible_ = true;
    if (race_possible_) return;
    memcpy(clocks_[child], clocks_[parent], sizeof clocks_[child]);
    clocks_[child][child] = 1;
    ++clocks_[parent][parent];
    strands_ = child + 1;
  }
  void joined(u32 by, u32 child) {
    --unjoined_;
    if (race_possible_) return;
    for (u32 i = 0; i < strands_; ++i) {
      if (clocks_[by][i] < clocks_[child][i]) clocks_[by][i] = clocks_[child][i];
    }
  }
  /// That strand's creation was seen.
  bool knows(u32 strand) const { return strand < strands_; }
  /// All other strands have been joined: accesses of the remaining one are ordered after all of theirs, and
  /// before those of every strand it will create. They need not be passed to access() and atomic().
  bool single_strand() const { return unjoined_ == 1; }

  /// For hooks: whether the strand owns the granule of that address, so that access() need not be called.
  static bool owned_by(const u64* owners, uptr address, u32 strand) {
    return owners[slot_of(address >> 3)] == (address >> 3 << 8 | strand);
  }
  const u64* owners() const { return owners_; }

  /// A plain access. A free is a write of the block.
  void access(uptr address, u64 size, bool write, u32 strand) {
    if (race_possible_ || single_strand()) return;
    uptr last = (address + size - 1) >> 2;
    if ((address & 7) + size <= 8) {
      Shadow* s = shared(address >> 3, strand);
      if (s) plain(*s, (address & 4 ? 0 : 1) | (last & 1 ? 2 : 0), write, strand);
      return;
    }
    if (last - (address >> 2) >= kMostUsed) {
      race_possible_ = true;
      return;
    }
    for (uptr half = address >> 2; half <= last && !race_possible_;) {
      u32 halves = half & 1 ? 2 : half == last ? 1 : 3;
      if (Shadow* s = shared(half >> 1, strand)) plain(*s, halves, write, strand);
      half = (half | 1) + 1;
    }
  }
  void atomic(uptr address, u64 size, bool write, u32 strand) {
    if (race_possible_ || single_strand()) return;
    for (uptr half = address >> 2; half <= (address + size - 1) >> 2 && !race_possible_; ++half) {
      Shadow* s = shared(half >> 1, kAtomicsOnly);
      if (!s) continue;
      Half& h = s->halves[half & 1];
      if (!follows(strand, h.write)) race_possible_ = true;
      if (write && (h.more_reads || !follows(strand, h.read))) race_possible_ = true;
      h.more_atomics |= !follows(strand, h.atomic);
      h.atomic = now(strand);
    }
  }

  /// That strand alone has touched those bytes. May be false though it is true.
  bool owned(uptr address, u64 size, u32 strand) const {
    if (size > kMostOwned) return false;
    for (uptr at = address & ~uptr{7}; at < address + size; at += 8) {
      if (!owned_by(owners_, at, strand)) return false;
    }
    return true;
  }
  /// No plain access has touched those bytes.
  bool only_atomics(uptr address, u64 size) const {
    for (uptr granule = address >> 3; granule <= (address + size - 1) >> 3; ++granule) {
      u64 owner = owners_[find(granule)];
      if (owner && (owner & 255) != kAtomicsOnly) return false;
    }
    return true;
  }

  /// There is a pair of which only clocks can tell whether it is a race.
  bool race_possible() const { return race_possible_; }
  /// A strand touched a granule that another one owned, whose accesses there were dropped.
  bool must_rerun() const { return must_rerun_; }

 private:
  /// A strand, in the upper byte, and its epoch; 0: none.
  using Stamp = u32;
  static constexpr u32 kMostEpochs = (1u << 24) - 1;

  struct Half {
    Stamp write, read, atomic;      // the last ones
    bool more_reads, more_atomics;  // others, not ordered before the last one
  };
  struct Shadow {
    u32 execution;
    Half halves[2];
  };
  static_assert(sizeof(Shadow) * kSlots == kShadowBytes);
  static constexpr u64 kMostOwned = 256;
  static constexpr u32 kMostUsed = kSlots / 4;  // a check that touches more memory uses clocks
  // Owners that are not a strand.
  static constexpr u32 kAtomicsOnly = 254, kShared = 255;

  Stamp now(u32 strand) const { return strand << 24 | clocks_[strand][strand]; }
  /// Whether all that the strand does is ordered after the stamp. True of no stamp.
  bool follows(u32 strand, Stamp other) const {
    return clocks_[strand][other >> 24] >= (other & kMostEpochs);
  }

  void plain(Shadow& s, u32 halves, bool write, u32 strand) {
    Stamp me = now(strand);
    for (u32 i = halves == 2; i <= halves >> 1; ++i) {
      Half& h = s.halves[i];
      if ((h.write == me || (!write && h.read == me)) && !h.atomic) continue;
      if (!follows(strand, h.write) || h.more_atomics || !follows(strand, h.atomic)) race_possible_ = true;
      bool follows_read = follows(strand, h.read);
      if (write) {
        if (h.more_reads || !follows_read) race_possible_ = true;
        h.write = me;
        h.read = 0;
      } else {
        h.more_reads |= !follows_read;
        h.read = me;
      }
    }
  }

  /// Granules of a page stay neighbours; pages, whose addresses differ in high bits only, are spread.
  static u64 slot_of(u64 granule) {
    return (granule + ((granule >> 9) * 0x9e3779b97f4a7c15u >> 50)) % kSlots;
  }
  /// Its slot, or an empty one.
  u64 find(u64 granule) const {
    u64 i = slot_of(granule);
    while (owners_[i] && owners_[i] >> 8 != granule) i = (i + 1) % kSlots;
    return i;
  }

  /// The shadow of a shared granule; null if `accessor` owns it. An unowned granule gets it as owner.
  Shadow* shared(u64 granule, u32 accessor) {
    u64 i = find(granule);
    if (owners_[i] == (granule << 8 | accessor)) return nullptr;
    if (!owners_[i]) {
      if (used_ == kMostUsed) {
        race_possible_ = true;
        return nullptr;
      }
      used_slots_[used_++] = static_cast<u16>(i);
      owners_[i] = granule << 8 | accessor;
      return nullptr;
    }
    if ((owners_[i] & 255) != kShared) {
      owners_[i] |= kShared;
      must_rerun_ = true;
    }
    Shadow& s = shadows_[i];
    if (s.execution != execution_) s = {execution_, {}};
    return &s;
  }

  u64* owners_ = nullptr;  // granule << 8 | owner; 0: empty
  Shadow* shadows_ = nullptr;
  u32 execution_ = 0;
  u32 used_ = 0;
  u32 unjoined_ = 1;
  u32 strands_ = 1;
  bool race_possible_ = false, must_rerun_ = false;
  u16 used_slots_[kMostUsed] = {};
  u32 clocks_[kMostStrands][kMostStrands] = {};  // vector clocks; [s][s]: the epoch of s
};

}  // namespace duress
