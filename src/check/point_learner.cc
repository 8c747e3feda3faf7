// SPDX-License-Identifier: Apache-2.0
#include "check/point_learner.h"

#include "check/races.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

struct Location {
  u64 granule;
  u32 execution;
  u32 strand;
  bool written;
  bool shared;
  u8 sites;
  const DuressSite* site[4];
};
constexpr u32 kLocations = 1u << 16;
Location* locations = nullptr;
u32 execution_number = 0;

void learn_granule(u64 granule, bool write, const DuressSite* site, u32 strand) {
  Location& l = locations[mix(granule) % kLocations];
  if (l.granule != granule || l.execution != execution_number) {
    l = {granule, execution_number, strand, write, false, 1, {site}};
    return;
  }
  SitePoints& points = g_runtime->points;
  if (l.strand != strand && (write || l.written) && !l.shared) {
    l.shared = true;
    for (u8 i = 0; i < l.sites; ++i) points.mark(l.site[i]);
  }
  l.written |= write;
  if (l.shared) {
    points.mark(site);
    return;
  }
  for (u8 i = 0; i < l.sites; ++i) {
    if (l.site[i] == site) return;
  }
  if (l.sites < 4) l.site[l.sites++] = site;
}

}  // namespace

bool prepare_point_learner() {
  if (!locations) locations = static_cast<Location*>(map_memory(kLocations * sizeof(Location)));
  return locations != nullptr;
}

void learner_execution_begins() {
  if (++execution_number == 0) execution_number = 1;
}

void learn_access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (g_race_watch == RaceWatch::kPrefilter) prefilter_access(p, size, write, site);
  if (!site) return;
  u64 first = address_of(p) >> 3, last = (address_of(p) + size - 1) >> 3;
  if (last - first > 64) last = first + 64;  // the beginning of a large block is enough to recognise it
  for (u64 granule = first; granule <= last; ++granule) {
    learn_granule(granule, write, site, scheduler().running()->number);
  }
}

}  // namespace duress
