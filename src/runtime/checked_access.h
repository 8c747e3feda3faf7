// SPDX-License-Identifier: Apache-2.0
//
// The way of a plain access into FastTrack where it may be the first of its epoch, and the test whether it
// is. Shared by the hooks of checked bodies and ThreadSanitizer's.
#pragma once

#include "analysis/fasttrack/hot_path.h"
#include "runtime/access_watch.h"
#include "runtime/runtime.h"

namespace duress {

inline SiteId site_number(const DuressSite* site) {
  return g_runtime->modules.site_id(site);
}
inline SiteId site_number(SiteId site) {
  return site;
}
/// The same if it needs no search.
inline bool known_site_number(const DuressSite* site, SiteId* id) {
  return g_runtime->modules.known_site_id(site, id);
}
inline bool known_site_number(SiteId site, SiteId* id) {
  *id = site;
  return true;
}

/// What try_access() left. preserve_most, so that hooks, which call nothing else, save only what they use.
template <bool kWrite, typename Site>
__attribute__((preserve_most, noinline)) void check_hard(const void* p, u64 size, Site site, bool tried) {
  access_watch_missed();
  Thread* t = current_thread_or_adopt();
  if (!t || t->in_runtime) return;
  t->in_runtime = true;
  Runtime& rt = *g_runtime;
  Place place{site_number(site), StackId{0}};
  if (!rt.known_context(*t, &place.stack)) place.stack = rt.context(*t);
  if (DURESS_UNLIKELY(rt.recorder != nullptr)) {
    rt.recorder->first_access(*t, reinterpret_cast<uptr>(p), size, kWrite, place);
  } else if (tried) {
    rt.fasttrack.access_slow(t->fasttrack, reinterpret_cast<uptr>(p), size, kWrite, place);
  } else {
    rt.fasttrack.access(t->fasttrack, reinterpret_cast<uptr>(p), size, kWrite, place);
  }
  t->in_runtime = false;
}

template <bool kWrite>
__attribute__((preserve_most, noinline)) void record_first(Thread& t, uptr address, u32 size, Place place) {
  g_runtime->recorder->first_access(t, address, size, kWrite, place);
  t.in_runtime = false;
}

__attribute__((preserve_most, noinline)) inline void open_epoch(FastTrackThread& t) {
  access_watch_missed();
  if (DURESS_UNLIKELY(g_runtime->recorder != nullptr)) return g_runtime->recorder->new_epoch(*t_current);
  g_runtime->fasttrack.open_epoch(t);
}

/// `site`: a site of the pass, or the number of one. `run` is told what was done.
template <u32 kSize, bool kWrite, typename Site>
__attribute__((always_inline)) inline void check_one(const void* p, Site site, AccessRun* run = nullptr) {
  Thread* t = current_thread();
  auto address = reinterpret_cast<uptr>(p);
  SiteId site_id;
  StackId stack;
  if (DURESS_UNLIKELY(!t || t->in_runtime || (kSize <= 8 && (address & 7) + kSize > 8) ||
                      !known_site_number(site, &site_id) || !g_runtime->known_context(*t, &stack)))
    return check_hard<kWrite>(p, kSize, site, false);
  t->in_runtime = true;
  if (!EpochFilter::is_open(*t->fasttrack.self)) open_epoch(t->fasttrack);
  FastTrack& fasttrack = g_runtime->fasttrack;
  Place place{site_id, stack};
  FastTrack::Outcome outcome = kSize > 8
                                   ? fasttrack.try_pair<kWrite>(t->fasttrack, address, place)
                                   : fasttrack.try_access<kWrite>(t->fasttrack, address, kSize, place, run);
  if (DURESS_LIKELY(outcome == FastTrack::Outcome::kDone)) {
    t->in_runtime = false;
    return;
  }
  if (g_runtime->recorder) return record_first<kWrite>(*t, address, kSize, place);
  t->in_runtime = false;
  check_hard<kWrite>(p, kSize, site, outcome == FastTrack::Outcome::kNotSimple);
}

/// The test that the pass writes in front of an access (CheckEmitter::failed), for accesses that are not
/// worth the code. A filter that contains everything has the same key for all addresses.
template <u32 kSize, bool kWrite>
__attribute__((always_inline)) inline bool in_filter(const void* p) {
  const DuressSelf& self = __duress_self;
  auto address = reinterpret_cast<uptr>(p);
  const DuressFilterEntry& entry = self.filter[(address >> DURESS_FILTER_BLOCK_BITS) & self.filter_index];
  if (entry.key != ((address & self.filter_blocks) << DURESS_FILTER_KEY_SHIFT | self.filter_tag))
    return false;
  const u8* masks = kWrite ? entry.written : entry.read;
  u32 granule = static_cast<u32>(address >> 3) % DURESS_FILTER_GRANULES;
  u32 offset = address & 7;
  if constexpr (kSize < 8) {
    u32 mask = ((1u << kSize) - 1) << offset;
    return mask <= 0xff && (masks[granule] & mask) == mask;
  } else if constexpr (kSize == 8) {
    return offset == 0 && masks[granule] == 0xff;
  } else {
    return offset == 0 && granule != DURESS_FILTER_GRANULES - 1 && masks[granule] == 0xff &&
           masks[granule + 1] == 0xff;
  }
}

}  // namespace duress
