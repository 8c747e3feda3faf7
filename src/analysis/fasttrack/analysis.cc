// SPDX-License-Identifier: Apache-2.0
//
// FastTrack as an analysis of a chain. What it passes on are accesses that raced, so FastTrack:Velodrome and
// the like see racy locations only.
#include "analysis/fasttrack/fasttrack.h"

namespace duress {

// The name is made from the table of analyses, as DURESS_DEFINE_ANALYSIS does.
// NOLINTNEXTLINE(readability-identifier-naming)
Analysis* make_FastTrack(const AnalysisContext& context) {
  return context.inline_analysis;
}

/// Atomic accesses were checked when they were performed, under the lock of the atomic.
Pass FastTrack::access(AnalysisThread& thread, const Access& access) {
  if (is_atomic(access.kind)) return Pass::kKeep;
  auto& t = *static_cast<FastTrackThread*>(thread.inline_state);
  t.every_access = true;
  if (access.kind == AccessKind::kFree)
    return freed(t, access.address, access.size, access.place) ? Pass::kForward : Pass::kKeep;
  bool raced = this->access(t, access.address, access.size, is_write(access.kind), access.place);
  return raced ? Pass::kGive : Pass::kKeep;
}

void FastTrack::counters(CounterSink& out) const {
  FastTrackRules all;
  {
    SpinGuard guard(threads_lock_);
    all = ended_rules_;
    for (const FastTrackThread* t = threads_; t; t = t->next_thread) all.add(t->rules);
  }
  all.each([&](const char* name, u64 value) { out.counter(name, value); });
}

}  // namespace duress
