// SPDX-License-Identifier: Apache-2.0
//
// Which accesses an attack on one variable can ignore. A function that touches the variable runs its faithful
// body, where every access is a call of a hook. When neither the site nor the address is of interest, the
// filter ends that call after a dozen instructions.
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

  /// From now on accesses at ignored sites are ignored, unless their address is tracked. Sites outside of the
  /// table are observed.
  void begin(const DuressSite* first, u32 count, const std::atomic<uptr>* sites) {
    first_ = first;
    count_ = count;
    sites_ = sites;
  }

  /// From now on accesses of these addresses are observed at every site.
  void track(uptr begin, uptr end) {
    for (uptr at = begin & ~uptr{7}; at < end; at += 8)
      tracked_[index(at)].store(1, std::memory_order_relaxed);
  }

  bool ignores(const void* p, u32 size, const DuressSite* site) const {
    u64 at = static_cast<u64>(site - first_);
    if (at >= count_) return false;
    uptr address = reinterpret_cast<uptr>(p);
    uptr kind = sites_[at].load(std::memory_order_relaxed);
    if (kind == kObserved || (address & 7) + size > 8 ||
        tracked_[index(address)].load(std::memory_order_relaxed))
      return false;
    return kind == kIgnored || !ElementSample::in_sample(address & ~uptr{7}, kind);
  }

 private:
  static constexpr u32 kBits = 16;  // 64 KB; a few thousand tracked words fill a tenth of it
  static u64 index(uptr address) { return address / 8 * 0x9e3779b97f4a7c15u >> (64 - kBits); }

  const DuressSite* first_ = nullptr;
  u64 count_ = 0;
  const std::atomic<uptr>* sites_ = nullptr;
  std::atomic<u8> tracked_[1 << kBits] = {};
};

extern AccessFilter g_access_filter;

}  // namespace duress
