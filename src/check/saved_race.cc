// SPDX-License-Identifier: Apache-2.0
#include "check/saved_race.h"

#include "check/failure.h"
#include "check/races.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {

void SavedRace::save(u64 found_in) {
  if (any_ || !keep_trail()) return;
  trail::Request& r = *check.request;
  any_ = true;
  found_in_ = found_in;
  request_ = r;
  trail_ =
      static_cast<trail::Deviation*>(check_arena.allocate(r.deviation_count * sizeof(trail::Deviation) + 1));
  memcpy(trail_, r.trail().data(), r.deviation_count * sizeof(trail::Deviation));
  points_ = g_runtime->points.marked(check_arena, &point_count_);
  memcpy(what_, check.what, sizeof what_);
}

void SavedRace::restore() const {
  trail::Request& r = *check.request;
  r = request_;
  memcpy(r.trail().data(), trail_, r.deviation_count * sizeof(trail::Deviation));
  memcpy(check.what, what_, sizeof check.what);
  check.abandoned = false;
  g_runtime->points.begin_learning(r);
  g_runtime->points.mark_keys(points_, point_count_);
  watch_races(RaceWatch::kClocks, nullptr);
}

bool SavedRace::report(DuressCheck& c) const {
  if (!any_) return false;
  restore();
  minimise();
  report_failure(c, found_in_);
  return true;
}

}  // namespace duress
