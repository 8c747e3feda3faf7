// SPDX-License-Identifier: Apache-2.0
//
// Which accesses an attack on one variable can ignore. A function that touches the variable runs its faithful
// body, where every access is a call of a hook. The call is not even made when the site is quiet and the word
// is not watched (hooks.h). The code's test is cruder than the filter, which ends the call after a dozen
// instructions when neither the site nor the address is of interest.
#pragma once

#include <atomic>

#include "base/types.h"
#include "duress/hooks.h"
#include "runtime/element_sample.h"

namespace duress {

/// Threads: any. Bits are only set, by the thread that tracks an address, before other threads can know it.
class AccessFilter {
 public:
  /// Per site, one of these or the base of an array, whose elements are observed if they are in the sample.
  static constexpr uptr kIgnored = 0, kObserved = 1;
  using Watched = std::atomic<u8>;
  static constexpr u32 kWatchedSize = 1 << DURESS_WATCHED_BITS;

  /// `watched`: kWatchedSize bytes, which instrumented code reads.
  explicit constexpr AccessFilter(Watched* watched) : watched_(watched) {}

  /// From now on accesses at ignored sites are ignored, unless their address is tracked. Sites outside of the
  /// table are observed.
  void begin(const DuressSite* first, u32 count, const std::atomic<uptr>* sites) {
    first_ = first;
    count_ = count;
    sites_ = sites;
  }

  /// From now on accesses of these addresses are observed at every site.
  void track(uptr begin, uptr end) {
    for (uptr at = begin & ~uptr{7}; at < end; at += 8) {
      set(tracked_[hash(at)]);
      set(watched_[index(at)]);
    }
  }
  /// From now on code calls the hook for elements that are in the sample of an array.
  void watch_sample(uptr base) {
    for (uptr word = 0; word < ElementSample::kPeriod; ++word) {
      if (ElementSample::in_pattern(base + word * 8, base)) set(watched_[index(base + word * 8)]);
    }
  }

  /// Whether the site is in the table and not ignored: the request names it.
  bool names(const DuressSite* site) const {
    u64 at = static_cast<u64>(site - first_);
    return at < count_ && sites_[at].load(std::memory_order_relaxed) != kIgnored;
  }

  bool ignores(const void* p, u32 size, const DuressSite* site) const {
    u64 at = static_cast<u64>(site - first_);
    if (at >= count_) return false;
    uptr address = reinterpret_cast<uptr>(p);
    uptr kind = sites_[at].load(std::memory_order_relaxed);
    if (kind == kObserved || (address & 7) + size > 8 ||
        tracked_[hash(address)].load(std::memory_order_relaxed))
      return false;
    return kind == kIgnored || !ElementSample::in_sample(address & ~uptr{7}, kind);
  }

 private:
  static_assert(ElementSample::kPeriod == kWatchedSize,
                "a sample has the same places in every part of an array");
  static u64 index(uptr address) { return address / 8 % kWatchedSize; }
  static u64 hash(uptr address) { return address / 8 * 0x9e3779b97f4a7c15u >> (64 - DURESS_WATCHED_BITS); }
  static void set(Watched& byte) {
    if (!byte.load(std::memory_order_relaxed)) byte.store(1, std::memory_order_release);
  }

  Watched* watched_;
  const DuressSite* first_ = nullptr;
  u64 count_ = 0;
  const std::atomic<uptr>* sites_ = nullptr;
  // By another hash than instrumented code can afford: a word in a hot loop, on a stack say, that shares its
  // byte in one table does not share it in the other.
  Watched tracked_[kWatchedSize] = {};
};

extern AccessFilter g_access_filter;

}  // namespace duress
