// SPDX-License-Identifier: Apache-2.0
#include "runtime/adversary.h"

#include <string.h>

namespace duress {

Adversary* g_adversary = nullptr;

namespace {

memory::StaleModel::Options options_of(const trail::Request& request) {
  memory::StaleModel::Options options;
  if (request.tear == 4 || request.tear == 8 || request.tear == 16) options.table.tear = request.tear;
  options.fair_after = request.fair_after;
  return options;
}

memory::Extent extent_of(const void* p, u64 size) {
  return {reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size};
}

}  // namespace

Adversary::Adversary(Runtime& runtime, const trail::Request& request, trail::Record& record)
    : runtime_(runtime),
      record_(record),
      heuristic_(static_cast<memory::HeuristicId>(request.heuristic)),
      prng_(mix(request.seed ^ 0xad7e25a1)),
      model_(runtime.arena, *this, options_of(request)) {}

const VectorClock* Adversary::next(u32* cursor) {
  // One strand runs at a time: the list stands still.
  u32 at = (*cursor)++;
  Thread* t = runtime_.live;
  while (t && at--) t = t->next;
  return t ? &t->clock.clock() : nullptr;
}

u32 Adversary::choose(u32 count) {
  return static_cast<u32>(prng_.below(count));
}

/// The heuristic's pick, as a rank by age: what a trail says must not depend on how the values are listed.
u32 Adversary::pick(const memory::Legal& legal) {
  u32 order[memory::Legal::kMost];
  for (u32 i = 0; i < legal.count; ++i) {
    u32 at = i;
    for (; at > 0 && legal.values[order[at - 1]].age > legal.values[i].age; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  u32 wanted = memory::pick_value(heuristic_, legal, *this), rank = 0;
  while (order[rank] != wanted) ++rank;
  return order[scheduler().decide(sched::ValueKind::kStoredValue, legal.count, rank)];
}

void Adversary::loaded(Thread& t, const void* p, u32 size, const DuressSite* site, void* value) {
  if (!runtime_.points.point(site)) return;
  u8 memory[16];
  memcpy(memory, value, size);
  memory::LoadResult result = model_.load({t.clock.clock(), t.clock.slot()}, extent_of(p, size),
                                          memory::Tracking::kBegin, memory, static_cast<u8*>(value), *this);
  record_.stale_loads += result.stale;
}

void Adversary::storing(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value) {
  bool tracked = runtime_.points.point(site) != 0;
  model_.store({t.clock.clock(), t.clock.slot()}, extent_of(p, size),
               tracked ? memory::Tracking::kBegin : memory::Tracking::kOnlyTracked,
               runtime_.modules.site_id(site), static_cast<const u8*>(p), value);
}

}  // namespace duress
