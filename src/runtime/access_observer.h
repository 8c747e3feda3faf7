// SPDX-License-Identifier: Apache-2.0
//
// How duress::check (src/check) observes the plain accesses of a closure. Most accesses are of no interest,
// and a closure runs more than a hundred thousand times a second, so the tests that drop them are inline
// here. The others go to g_learn_access (control.h), which src/check sets: the runtime does not include it.
#pragma once

#include "duress/hooks.h"
#include "runtime/access_digest.h"
#include "runtime/control.h"
#include "runtime/memory_guard.h"
#include "runtime/race_prefilter.h"

namespace duress {

/// A digest per strand to which accesses are added; null: accesses are not digested.
extern u64* g_access_digest;
/// The table of RacePrefilter. Accesses by the strand that alone has touched the memory are dropped. Null:
/// none are.
extern const u64* g_access_owners;

/// Called before every plain access of a faithful body.
inline void observe_access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_memory_listener != nullptr)) guard_plain(p, size, write, site);
  if (DURESS_LIKELY(g_learn_access == nullptr)) return;
  const sched::Strand* s = controlled();
  if (!s) return;
  uptr at = address_of(p), last = at + size - 1;
  if (g_access_digest) {
    return AccessDigest::add(g_access_digest, s->number, at, size,
                             write ? AccessDigest::What::kWrite : AccessDigest::What::kRead);
  }
  if (g_access_owners && (at & 7) + size <= 16 && RacePrefilter::owned_by(g_access_owners, at, s->number) &&
      (last >> 3 == at >> 3 || RacePrefilter::owned_by(g_access_owners, last, s->number)))
    return;
  g_learn_access(p, size, write, site);
}

}  // namespace duress
