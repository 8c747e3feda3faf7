// SPDX-License-Identifier: Apache-2.0
//
// Sites of code that was built with -fsanitize=thread by another compiler. Its hooks carry no site, so the
// return address of the hook's call names the place: it gets a DuressSite when it is first seen, and from
// then on is a site like those of the pass. The host makes file, line and function of the address; the name
// of the variable comes from the memory that is accessed.
#pragma once

#include "base/spin_lock.h"
#include "duress/hooks.h"

namespace duress {

/// Threads: any. Sites are only ever added, under a lock; known ones are found without it.
class CodeSites {
 public:
  static constexpr u32 kMost = 1u << 17;

  /// The site of the code that a hook returns to. The last one if there are too many of them.
  const DuressSite* find(uptr pc, u8 access, u8 size) {
    if (DURESS_UNLIKELY(!slots_)) return add(pc, access, size);
    for (u32 i = hash(pc);; i = (i + 1) & (kSlots - 1)) {
      u32 entry = __atomic_load_n(&slots_[i], __ATOMIC_ACQUIRE);
      if (!entry) return add(pc, access, size);
      if (pcs_[entry] == pc) return &sites_[entry];
    }
  }

  bool contains(const DuressSite* site) const {
    return sites_ && static_cast<u64>(site - sites_) < kMost && site >= sites_;
  }
  /// REQUIRES: contains(site).
  uptr pc(const DuressSite* site) const { return pcs_[site - sites_]; }
  const DuressSite* begin() const { return sites_; }
  u32 count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }

  /// Called under the lock for each new site; `first`: for the first one of all, before any other.
  void (*on_new)(const DuressSite* site, bool first) = nullptr;

 private:
  static constexpr u32 kSlots = kMost * 2;
  static u32 hash(uptr pc) { return static_cast<u32>(pc * 0x9e3779b97f4a7c15u >> 40) & (kSlots - 1); }
  const DuressSite* add(uptr pc, u8 access, u8 size);

  SpinLock lock_;
  u32 count_ = 1;  // entry 0: none
  DuressSite* sites_ = nullptr;
  u64* pcs_ = nullptr;
  u32* slots_ = nullptr;
};

/// How far a return address is from the beginning of its module; 0: it is in none, or too far.
u32 code_offset(uptr pc);

}  // namespace duress
