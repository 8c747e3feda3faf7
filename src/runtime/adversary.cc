// SPDX-License-Identifier: Apache-2.0
#include "runtime/adversary.h"

#include <string.h>

#include "runtime/rollback.h"

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
      request_(request),
      record_(record),
      heuristic_(request.heuristic),
      prng_(mix(request.seed ^ 0xad7e25a1)),
      model_(runtime.arena, *this, options_of(request)),
      counter_(runtime.arena),
      profile_(runtime.arena, record.future_values(), trail::kMostFutureValues, &record.future_value_count),
      predictions_(runtime.arena, request.predictions().data(), request.prediction_count) {
  if (request.model == ModelId::kFuture) heuristic_ = HeuristicId::kSequentiallyConsistent;
}

const VectorClock* Adversary::next(u32* cursor) {
  // One strand runs at a time, so the list does not change.
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
  // The newest comes first, whatever its age: that is of its oldest occurrence, and a flag goes to and fro.
  u32 order[memory::Legal::kMost] = {0};
  for (u32 i = 1; i < legal.count; ++i) {
    u32 at = i;
    for (; at > 1 && legal.values[order[at - 1]].age > legal.values[i].age; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  u32 wanted = memory::pick_value(heuristic_, legal, *this), rank = 0;
  while (order[rank] != wanted) ++rank;
  return order[scheduler().decide(sched::ValueKind::kStoredValue, legal.count, rank)];
}

void Adversary::loaded(Thread& t, const void* p, u32 size, const DuressSite* site, void* value) {
  u32 key = runtime_.points.point(site, p);
  if (!key) return;
  g_access_filter.track(address_of(p), address_of(p) + size);
  u8 memory[16];
  auto* into = static_cast<u8*>(value);
  memory::scatter(memory, memory::gather(into, size), size);
  memory::Viewer who = {t.clock.clock(), t.clock.slot()};
  memory::Extent extent = extent_of(p, size);
  memory::Legal legal;
  memory::LoadResult result = model_.load(who, extent, memory::Tracking::kBegin, memory, into, *this, legal);
  if (request_.profile_futures || request_.prediction_count) {
    memory::DynamicLocation where = {scheduler().running()->number, key,
                                     counter_.next(scheduler().running()->number, key)};
    if (request_.profile_futures) {
      u128 visible[8] = {memory::gather(memory, size)};
      u32 count = 1;
      if (result.pieces == 1) {
        for (count = 0; count < legal.count && count < 8; ++count) visible[count] = legal.values[count].value;
      }
      profile_.load(who, where, extent, visible, count);
    }
    if (predict(who, where, extent, memory, into, site)) result.stale = false;  // predict() has noted it
  }
  if (result.stale && memcmp(memory, value, size) != 0) note_replaced(key, site, size, memory, into, false);
  note_statistics();
}

/// LOAD of prescient memory: whether the value was replaced. A value that is visible by now is not a
/// speculation.
bool Adversary::predict(const memory::Viewer& who, const memory::DynamicLocation& where,
                        memory::Extent extent, const u8* memory, u8* value, const DuressSite* site) {
  const trail::Prediction* wanted = predictions_.find(where);
  if (!wanted || wanted->size != extent.size() || memcmp(wanted->value, memory, wanted->size) == 0)
    return false;
  const u8* bytes = reinterpret_cast<const u8*>(wanted->value);
  bool future = !model_.allows(who, extent, memory, bytes);
  if (future) {
    u128 whole = u128{wanted->value[1]} << 64 | wanted->value[0];
    if (!speculative_.add(who, extent, whole)) return false;
    ++record_.future_loads;
    note_unvalidated();
  }
  memcpy(value, bytes, wanted->size);
  note_replaced(where.site, site, wanted->size, memory, value, future);
  return true;
}

void Adversary::storing(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value) {
  u32 key = runtime_.points.point(site, p);
  if (key) g_access_filter.track(address_of(p), address_of(p) + size);
  memory::Viewer who = {t.clock.clock(), t.clock.slot()};
  memory::Extent extent = extent_of(p, size);
  model_.store(who, extent, key ? memory::Tracking::kBegin : memory::Tracking::kOnlyTracked,
               runtime_.modules.site_id(site), static_cast<const u8*>(p), value);
  if (request_.profile_futures) profile_.store(who, extent, value);
  if (speculative_.count()) {
    speculative_.store(who, extent, value);
    note_unvalidated();
  }
  if (!key) return;
  note_statistics();
  if (!named(key)) return;
  ++record_.stores;
  bool changes = false;
  for (u64 i = 0; i < size && !changes; ++i) changes = value.at(i) != static_cast<const u8*>(p)[i];
  record_.changing_stores += changes;
}

// ---- unvalidated predictions
// -----------------------------------------------------------------------------------------------------

/// A crash can come at any moment, so the record is kept up to date.
void Adversary::note_unvalidated() {
  record_.unvalidated = speculative_.count();
  if (!speculative_.count()) {
    if (settling_) scheduler().wake(address_of(&speculative_));
  } else if (speculative_.hopeless(*this)) {
    // No concurrent store can come any more: whatever the execution does now would not be legal.
    scheduler().finish();
    record_.outcome = trail::Outcome::kEnded;
    rollback_end(0);
    exit_process(0);
  }
}

void Adversary::settle(uptr place) {
  if (!speculative_.count()) return;
  settling_ = true;
  // Timers of many seconds fire only when nothing else can happen.
  scheduler().block({OpKind::kSystem, 0, address_of(&speculative_), 0, place}, address_of(&speculative_),
                    sched::kNever - 2);
}

// ---- records
// ----------------------------------------------------------------------------------------------

void Adversary::note_replaced(u32 key, const DuressSite* site, u32 size, const u8* memory, const u8* value,
                              bool future) {
  if (!future) ++record_.stale_loads;
  u64 at = record_.replaced++;
  if (at >= trail::Record::kMostReplaced) return;
  trail::Replaced& replaced = record_.first_replaced[at];
  auto type = site->flags & DURESS_SITE_FLOAT     ? trail::ValueType::kFloat
              : site->flags & DURESS_SITE_POINTER ? trail::ValueType::kPointer
                                                  : trail::ValueType::kInteger;
  replaced = {scheduler().running()->number, key, size, future, type, 0, {}, {}};
  memcpy(replaced.value, value, size);
  memcpy(replaced.newest, memory, size);
}

void Adversary::note_statistics() {
  const memory::Statistics& statistics = model_.statistics();
  record_.instances = statistics.instances;
  record_.writes = statistics.writes;
  record_.reads = statistics.reads;
  record_.largest = statistics.largest;
  record_.largest_uncompressed = statistics.largest_uncompressed;
}

/// Whether the request named the site itself, not only its variable.
bool Adversary::named(u32 key) const {
  for (u32 site : request_.sites()) {
    if (site == key) return true;
  }
  return false;
}

}  // namespace duress
