// SPDX-License-Identifier: Apache-2.0
//
// HappensBefore: the textbook's detector. Clocks of its own for threads and everything that synchronises
// them, full read and write clocks for each location, every access compared. It shares no clock with the
// runtime, so it also checks those.
#include "analysis/flow_clocks.h"
#include "analysis/location_table.h"
#include "analysis/marks.h"

namespace duress {
namespace {

class HappensBefore final : public Analysis {
 public:
  explicit HappensBefore(const AnalysisContext& context)
      : arena_(context.arena), findings_(context.findings), clocks_(context.arena), table_(context.arena) {}
  const char* name() const override { return "HappensBefore"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    AccessClass c = class_of(access.kind);
    bool raced = false;
    SpinGuard guard(lock_);
    const VectorClock& known = clocks_.thread(thread.tid);
    Slot self = FlowClocks::slot(thread.tid);
    table_.access(access.address, access.size, [&](LocationMarks& marks, uptr at, u32 size) {
      ++compared_;
      if (const AccessNote* earlier = marks.racing(c, known)) {
        raced = true;
        findings_.race({"HappensBefore", at, size, earlier->side(), note.side()});
      }
      clocks_made_ += marks.of[static_cast<int>(c)].set(arena_, self, known.get(self), note);
    });
    return raced ? Pass::kGive : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    SpinGuard guard(lock_);
    clocks_.sync(thread, sync);
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("HappensBefore: comparisons", compared_);
    out.counter("HappensBefore: joins", clocks_.joins());
    out.counter("HappensBefore: clocks allocated", clocks_made_ + clocks_.allocated());
  }

 private:
  Arena& arena_;
  RaceSink& findings_;
  SpinLock lock_;  // everything below
  FlowClocks clocks_;
  LocationTable<LocationMarks> table_;
  u64 compared_ = 0, clocks_made_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(HappensBefore, context);

}  // namespace duress
