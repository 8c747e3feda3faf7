// SPDX-License-Identifier: Apache-2.0
#include "runtime/parallel_adversary.h"

#include <string.h>

#include "base/check.h"
#include "base/raw.h"

namespace duress {

ParallelAdversary* g_parallel_adversary = nullptr;

namespace {

memory::StaleModel::Options options_of(const Options& options) {
  memory::StaleModel::Options result;
  if (options.tear_ == 4) result.table.tear = 4;
  result.fair_after = static_cast<u32>(options.fair_after_);
  return result;
}

HeuristicId heuristic_of(const Options& options) {
  std::optional<HeuristicId> id = id_of<HeuristicId>(options.heuristic_);
  if (!id) fatal("option heuristic names no known heuristic", "duress list heuristics lists them");
  return *id;
}

memory::Extent extent_of(const void* p, u64 size) {
  return {reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size};
}

}  // namespace

const trail::Request& ParallelAdversary::request() {
  static trail::Request request = [] {
    trail::Request made;
    made.detect = trail::Detect::kClocks;
    made.model = ModelId::kStale;
    made.sample = true;
    return made;
  }();
  return request;
}

ParallelAdversary::ParallelAdversary(Runtime& runtime)
    : runtime_(runtime),
      heuristic_(heuristic_of(runtime.options)),
      prng_(mix(runtime.options.seed_ ^ 0xad7e25a1)),
      model_(runtime.arena, *this, options_of(runtime.options)) {}

/// Other threads' clocks change while they run. Without any [GC1] keeps everything, and only [REMOVE OLDEST]
/// bounds a history.
const VectorClock* ParallelAdversary::next(u32*) {
  return nullptr;
}

bool ParallelAdversary::load(Thread& t, const void* p, u32 size, const DuressSite* site, void* value) {
  if (!runtime_.points.point(site, p)) return false;
  g_access_filter.track(reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size);
  memory::HeuristicPicker picker(heuristic_, *this);
  memory::Legal legal;
  memory::LoadResult result;
  u8 memory[16] = {};
  u64 stamp;
  {
    SpinGuard guard(lock_);
    if (!t.loads) t.loads = loads_of_new_thread();
    u64 unseen = model_.statistics().unseen;
    memcpy(memory, p, size);
    result = model_.load({t.clock.clock(), t.clock.slot()}, extent_of(p, size), memory::Tracking::kBegin,
                         memory, static_cast<u8*>(value), picker, legal);
    if (model_.statistics().unseen != unseen) stamps_.changed(extent_of(p, size));
    stamp = stamps_.of(reinterpret_cast<uptr>(p));
  }
  memory::RememberedLoads::Load load = {reinterpret_cast<uptr>(p), size};
  if (!t.loads || !result.tracked || !load.in_one_word()) return true;
  u64 held;
  memcpy(&held, memory, sizeof held);
  t.loads->remember(load, {stamp, t.clock.acquired(), held}, legal, result.run);
  return true;
}

/// Under the lock.
memory::RememberedLoads* ParallelAdversary::loads_of_new_thread() {
  memory::RememberedLoads* loads = free_loads_;
  if (loads) {
    free_loads_ = loads->next_free;
    loads->clear();
    return loads;
  }
  void* room = map_memory(sizeof(memory::RememberedLoads));
  if (!room) return nullptr;
  loads = new (room)
      memory::RememberedLoads(heuristic_, static_cast<u32>(runtime_.options.fair_after_), prng_.next());
  loads->next = all_loads_;
  all_loads_ = loads;
  return loads;
}

void ParallelAdversary::thread_ended(Thread& t) {
  if (!t.loads) return;
  SpinGuard guard(lock_);
  t.loads->next_free = free_loads_;
  free_loads_ = t.loads;
  t.loads = nullptr;
}

bool ParallelAdversary::store(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value) {
  bool tracked = runtime_.points.point(site, p) != 0;
  if (tracked) g_access_filter.track(reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size);
  SpinGuard guard(lock_);
  bool changed = model_.store({t.clock.clock(), t.clock.slot()}, extent_of(p, size),
                              tracked ? memory::Tracking::kBegin : memory::Tracking::kOnlyTracked,
                              runtime_.modules.site_id(site), static_cast<const u8*>(p), value);
  if (changed) stamps_.changed(extent_of(p, size));
  // Whole ranges are stored outside: a load that comes in between finds memory other than the history says,
  // and the history is dropped.
  u8 bytes[16];
  if (!tracked || size > sizeof bytes) return false;
  for (u64 i = 0; i < size; ++i) bytes[i] = value.at(i);
  memcpy(p, bytes, size);
  return true;
}

void ParallelAdversary::forget(uptr begin, uptr end) {
  SpinGuard guard(lock_);
  if (model_.forget({begin, end})) stamps_.changed({begin, end});
}

void ParallelAdversary::report() {
  const memory::Statistics& statistics = model_.statistics();
  u64 reads = statistics.reads, stale_reads = statistics.stale_reads;
  {
    SpinGuard guard(lock_);
    for (const memory::RememberedLoads* loads = all_loads_; loads; loads = loads->next) {
      reads += loads->reads();
      stale_reads += loads->stale_reads();
    }
  }
  runtime_.reporter.stat("instances", statistics.instances);
  runtime_.reporter.stat("tracked writes", statistics.writes);
  runtime_.reporter.stat("tracked reads", reads);
  runtime_.reporter.stat("stale reads", stale_reads);
  runtime_.reporter.stat("largest history", statistics.largest);
  runtime_.reporter.stat("largest history uncompressed", statistics.largest_uncompressed);
}

}  // namespace duress
