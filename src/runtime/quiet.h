// SPDX-License-Identifier: Apache-2.0
//
// Which accesses nobody needs to hear of: a trial attacks one variable, and a function that touches it runs a
// body in which every access is a call. Where neither the place in the source nor the address matters, the
// call ends after a dozen instructions.
#ifndef DURESS_RUNTIME_QUIET_H_
#define DURESS_RUNTIME_QUIET_H_

#include <atomic>

#include "base/types.h"
#include "duress/hooks.h"
#include "runtime/element_sample.h"

namespace duress {

/// Threads: any. Bits are only set, by whoever tracks an address, before anybody else can know it.
class Quiet {
 public:
  /// What a site is: one of these, or an array's base: its elements matter if they are in the sample.
  static constexpr uptr kNothing = 0, kMatters = 1;

  /// From now on accesses at the sites that are kNothing do not matter, unless the address does. Sites
  /// outside matter.
  void begin(const DuressSite* first, u32 count, const std::atomic<uptr>* sites) {
    first_ = first;
    count_ = count;
    sites_ = sites;
  }

  /// What is stored there matters from now on.
  void mind(uptr begin, uptr end) {
    for (uptr at = begin & ~uptr{7}; at < end; at += 8)
      minded_[index(at)].store(1, std::memory_order_relaxed);
  }

  bool ignores(const void* p, u32 size, const DuressSite* site) const {
    u64 at = static_cast<u64>(site - first_);
    if (at >= count_) return false;
    uptr address = reinterpret_cast<uptr>(p);
    uptr what = sites_[at].load(std::memory_order_relaxed);
    if (what == kMatters || (address & 7) + size > 8 ||
        minded_[index(address)].load(std::memory_order_relaxed))
      return false;
    return what == kNothing || !ElementSample::in_sample(address & ~uptr{7}, what);
  }

 private:
  static constexpr u32 kBits = 16;  // 64 KB; a few thousand tracked words fill a tenth of it
  static u64 index(uptr address) { return address / 8 * 0x9e3779b97f4a7c15u >> (64 - kBits); }

  const DuressSite* first_ = nullptr;
  u64 count_ = 0;
  const std::atomic<uptr>* sites_ = nullptr;
  std::atomic<u8> minded_[1 << kBits] = {};
};

extern Quiet g_quiet;

}  // namespace duress

#endif  // DURESS_RUNTIME_QUIET_H_
