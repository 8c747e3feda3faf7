// SPDX-License-Identifier: Apache-2.0
//
// What could be a race in an execution of duress::check, found cheaply: two accesses of the same four bytes,
// one of them a plain one and one of them a write, that the creation and joining of threads does not order.
// Locks and atomics are not asked. A closure that shares nothing but atomics has no such pair; an execution
// that has one is run again with clocks (check/races.h).
//
// Nine accesses of ten are of memory that one strand alone ever touches: its stack, its blocks. So the strand
// that first touches a granule, in any execution of the check, is its home, and what it does there does not
// count: one comparison. When another strand comes, the granule is shared for good and the execution is run
// again, this time seeing all of it (again()). Granules that only atomic operations touch do not count
// either.
//
// It may suspect too much, never too little: FastTrack on half granules, with one reader and one atomic
// access remembered and a flag for "there are more".
#ifndef DURESS_RUNTIME_SUSPECTS_H_
#define DURESS_RUNTIME_SUSPECTS_H_

#include <string.h>

#include "base/raw.h"
#include "base/types.h"

namespace duress {

/// Threads: the running strand. Strands are named by their number in the execution.
class Suspects {
 public:
  static constexpr u32 kMostStrands = 64;

  /// False: no memory. Once, before the rest.
  bool prepare() {
    if (!homes_) homes_ = static_cast<u64*>(map_memory(kPlaces * sizeof(u64)));
    if (!marks_) marks_ = static_cast<Mark*>(map_memory(kPlaces * sizeof(Mark)));
    return homes_ && marks_;
  }
  /// A new check: no granule has a home.
  void forget() {
    for (u32 i = 0; i < used_; ++i) homes_[order_[i]] = 0;
    used_ = 0;
  }

  /// A new execution: there is strand 0.
  void begin() {
    if (++execution_ == 0) {  // what was marked four billion executions ago would look new
      memset(static_cast<void*>(marks_), 0, kPlaces * sizeof(Mark));
      execution_ = 1;
    }
    unjoined_ = strands_ = 1;
    found_ = again_ = false;
    memset(known_[0], 0, sizeof known_[0]);
    known_[0][0] = 1;
  }

  void created(u32 parent, u32 child) {
    ++unjoined_;
    if (child >= kMostStrands || known_[parent][parent] == kMostEpochs) found_ = true;
    if (found_) return;
    memcpy(known_[child], known_[parent], sizeof known_[child]);
    known_[child][child] = 1;
    ++known_[parent][parent];
    strands_ = child + 1;
  }
  void joined(u32 by, u32 child) {
    --unjoined_;
    if (found_) return;
    for (u32 i = 0; i < strands_; ++i) {
      if (known_[by][i] < known_[child][i]) known_[by][i] = known_[child][i];
    }
  }
  /// All others have been joined: what the one that is left does is ordered after all they did, and before
  /// all that it will create. Nobody need tell of it.
  bool alone() const { return unjoined_ == 1; }

  /// For hooks: whether an access within a granule is of its home, so that nobody need tell of it.
  static bool is_home(const u64* homes, uptr address, u32 strand) {
    return homes[place_of(address >> 3)] == (address >> 3 << 8 | strand);
  }
  const u64* homes() const { return homes_; }

  /// A plain access. A free is a write of the block.
  void access(uptr address, u64 size, bool write, u32 strand) {
    if (found_ || alone()) return;
    uptr last = (address + size - 1) >> 2;
    if ((address & 7) + size <= 8) {
      Mark* m = shared(address >> 3, strand);
      if (m) plain(*m, (address & 4 ? 0 : 1) | (last & 1 ? 2 : 0), write, strand);
      return;
    }
    if (last - (address >> 2) >= kMostUsed) {
      found_ = true;
      return;
    }
    for (uptr half = address >> 2; half <= last && !found_;) {
      u32 halves = half & 1 ? 2 : half == last ? 1 : 3;
      if (Mark* m = shared(half >> 1, strand)) plain(*m, halves, write, strand);
      half = (half | 1) + 1;
    }
  }
  void atomic(uptr address, u64 size, bool write, u32 strand) {
    if (found_ || alone()) return;
    for (uptr half = address >> 2; half <= (address + size - 1) >> 2 && !found_; ++half) {
      Mark* m = shared(half >> 1, kAtomicsOnly);
      if (!m) continue;
      Half& h = m->halves[half & 1];
      if (!knows(strand, h.write)) found_ = true;
      if (write && (h.more_reads || !knows(strand, h.read))) found_ = true;
      h.more_atomics |= !knows(strand, h.atomic);
      h.atomic = now(strand);
    }
  }

  /// There is a pair that only clocks can judge.
  bool found() const { return found_; }
  /// A strand touched a granule where another one was at home: what that one did there went unseen.
  bool again() const { return again_; }

 private:
  /// Who, in the upper byte, and how far that strand was; 0: nobody.
  using Stamp = u32;
  static constexpr u32 kMostEpochs = (1u << 24) - 1;

  struct Half {
    Stamp write, read, atomic;      // the last ones
    bool more_reads, more_atomics;  // others that the last one does not follow
  };
  struct Mark {
    u32 execution;
    Half halves[2];
  };
  static constexpr u32 kPlaces = 1u << 15;
  static constexpr u32 kMostUsed = kPlaces / 4;  // a check that touches more is looked at with clocks
  // Homes that are no strand.
  static constexpr u32 kAtomicsOnly = 254, kShared = 255;

  Stamp now(u32 strand) const { return strand << 24 | known_[strand][strand]; }
  bool knows(u32 strand, Stamp other) const {
    return known_[strand][other >> 24] >= (other & kMostEpochs);  // nobody is known to all
  }

  void plain(Mark& m, u32 halves, bool write, u32 strand) {
    Stamp me = now(strand);
    for (u32 i = halves == 2; i <= halves >> 1; ++i) {
      Half& h = m.halves[i];
      if ((h.write == me || (!write && h.read == me)) && !h.atomic) continue;
      if (!knows(strand, h.write) || h.more_atomics || !knows(strand, h.atomic)) found_ = true;
      bool read_known = knows(strand, h.read);
      if (write) {
        if (h.more_reads || !read_known) found_ = true;
        h.write = me;
        h.read = 0;
      } else {
        h.more_reads |= !read_known;
        h.read = me;
      }
    }
  }

  /// Granules of a page stay neighbours; pages, whose addresses differ in high bits alone, are spread.
  static u64 place_of(u64 granule) {
    return (granule + ((granule >> 9) * 0x9e3779b97f4a7c15u >> 50)) % kPlaces;
  }
  /// Its place, or an empty one.
  u64 find(u64 granule) const {
    u64 i = place_of(granule);
    while (homes_[i] && homes_[i] >> 8 != granule) i = (i + 1) % kPlaces;
    return i;
  }

  /// What is known of a shared granule; null if it is not shared. `home` is who touches it.
  Mark* shared(u64 granule, u32 home) {
    u64 i = find(granule);
    if (homes_[i] == (granule << 8 | home)) return nullptr;
    if (!homes_[i]) {
      if (used_ == kMostUsed) {
        found_ = true;
        return nullptr;
      }
      order_[used_++] = static_cast<u16>(i);
      homes_[i] = granule << 8 | home;
      return nullptr;
    }
    if ((homes_[i] & 255) != kShared) {
      homes_[i] |= kShared;
      again_ = true;
    }
    Mark& m = marks_[i];
    if (m.execution != execution_) m = {execution_, {}};
    return &m;
  }

  u64* homes_ = nullptr;  // granule << 8 | home; 0: empty
  Mark* marks_ = nullptr;
  u32 execution_ = 0;
  u32 used_ = 0;
  u32 unjoined_ = 1;
  u32 strands_ = 1;
  bool found_ = false, again_ = false;
  u16 order_[kMostUsed] = {};  // places that are used
  u32 known_[kMostStrands][kMostStrands] =
      {};  // what each strand knows of the others; its own: how far it is
};

}  // namespace duress

#endif  // DURESS_RUNTIME_SUSPECTS_H_
