// SPDX-License-Identifier: Apache-2.0
#include "runtime/parallel_adversary.h"

#include <string.h>

#include "base/check.h"

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
      nothing_(runtime.arena),
      model_(runtime.arena, *this, options_of(runtime.options)) {}

/// Other threads' clocks change while they run. With an empty clock instead [GC1] keeps everything, and only
/// [REMOVE OLDEST] bounds a history.
const VectorClock* ParallelAdversary::next(u32* cursor) {
  return (*cursor)++ == 0 ? &nothing_ : nullptr;
}

bool ParallelAdversary::load(Thread& t, const void* p, u32 size, const DuressSite* site, void* value) {
  if (!runtime_.points.point(site, p)) return false;
  g_access_filter.track(reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size);
  memory::HeuristicPicker picker(heuristic_, *this);
  u8 memory[16];
  SpinGuard guard(lock_);
  memcpy(memory, p, size);
  model_.load({t.clock.clock(), t.clock.slot()}, extent_of(p, size), memory::Tracking::kBegin, memory,
              static_cast<u8*>(value), picker);
  return true;
}

bool ParallelAdversary::store(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value) {
  bool tracked = runtime_.points.point(site, p) != 0;
  if (tracked) g_access_filter.track(reinterpret_cast<uptr>(p), reinterpret_cast<uptr>(p) + size);
  SpinGuard guard(lock_);
  model_.store({t.clock.clock(), t.clock.slot()}, extent_of(p, size),
               tracked ? memory::Tracking::kBegin : memory::Tracking::kOnlyTracked,
               runtime_.modules.site_id(site), static_cast<const u8*>(p), value);
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
  model_.forget({begin, end});
}

void ParallelAdversary::report() {
  const memory::Statistics& statistics = model_.statistics();
  runtime_.reporter.stat("instances", statistics.instances);
  runtime_.reporter.stat("tracked writes", statistics.writes);
  runtime_.reporter.stat("tracked reads", statistics.reads);
  runtime_.reporter.stat("stale reads", statistics.stale_reads);
  runtime_.reporter.stat("largest history", statistics.largest);
  runtime_.reporter.stat("largest history uncompressed", statistics.largest_uncompressed);
}

}  // namespace duress
