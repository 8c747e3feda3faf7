// SPDX-License-Identifier: Apache-2.0
#include "runtime/code_sites.h"

#include <dlfcn.h>
#include <link.h>

#include "base/check.h"
#include "base/raw.h"
#include "trail/site_key.h"

// Without locks, unlike dladdr; new in glibc 2.35.
extern "C" int _dl_find_object(void* pc, dl_find_object* result) __attribute__((weak));

namespace duress {

u32 code_offset(uptr pc) {
  uptr base = 0;
  auto* at = reinterpret_cast<void*>(pc - 1);
  if (dl_find_object found; _dl_find_object) {
    if (_dl_find_object(at, &found) != 0) return 0;
    base = found.dlfo_link_map->l_addr;
  } else if (Dl_info info; dladdr(at, &info) != 0) {
    base = reinterpret_cast<uptr>(info.dli_fbase);
  }
  return pc - base < trail::kCodeSite ? static_cast<u32>(pc - base) : 0;
}

const DuressSite* CodeSites::add(uptr pc, u8 access, u8 size) {
  SpinGuard guard(lock_);
  bool first = !slots_;
  if (first) {
    sites_ = static_cast<DuressSite*>(map_memory(kMost * sizeof(DuressSite)));
    pcs_ = static_cast<u64*>(map_memory(kMost * sizeof(u64)));
    auto* slots = static_cast<u32*>(map_memory(kSlots * sizeof(u32)));
    if (!sites_ || !pcs_ || !slots) fatal("out of memory for the places of accesses");
    __atomic_store_n(&slots_, slots, __ATOMIC_RELEASE);
  }
  u32 i = hash(pc);
  for (; slots_[i]; i = (i + 1) & (kSlots - 1)) {
    if (pcs_[slots_[i]] == pc) return &sites_[slots_[i]];
  }
  if (count_ == kMost) return &sites_[kMost - 1];
  DuressSite& site = sites_[count_];
  site.line = code_offset(pc);  // tells places apart where the source line would
  site.access = access;
  site.size = size;
  site.flags = DURESS_SITE_FAITHFUL;
  pcs_[count_] = pc;
  __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
  if (on_new) on_new(&site, first);
  __atomic_store_n(&slots_[i], static_cast<u32>(&site - sites_), __ATOMIC_RELEASE);
  return &site;
}

}  // namespace duress
