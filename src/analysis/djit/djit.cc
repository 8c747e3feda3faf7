// SPDX-License-Identifier: Apache-2.0
//
// DJIT+ (Pozniansky and Schuster): a clock of reads and one of writes for each location; only the first
// access of its kind in a time frame is compared (time_frame.h).
#include "analysis/location_table.h"
#include "analysis/time_frame.h"

namespace duress {
namespace {

class Djit final : public Analysis {
 public:
  explicit Djit(const AnalysisContext& context)
      : arena_(context.arena), findings_(context.findings), table_(context.arena) {}
  const char* name() const override { return "DJIT+"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    FramedAccess framed(thread, access);
    bool raced = false;
    table_.access(access.address, access.size, [&](LocationMarks& marks, uptr at, u32 size) {
      FrameCheck check = check_frame(arena_, marks, framed);
      (check.first ? first_in_frame_ : same_frame_).fetch_add(1, std::memory_order_relaxed);
      if (check.grown) clocks_.fetch_add(1, std::memory_order_relaxed);
      if (!check.raced) return;
      raced = true;
      findings_.race({"DJIT+", at, size, check.earlier.side(), framed.note.side()});
    });
    return raced ? Pass::kGive : Pass::kKeep;
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("DJIT+: same time frame", same_frame_.load(std::memory_order_relaxed));
    out.counter("DJIT+: first in time frame", first_in_frame_.load(std::memory_order_relaxed));
    out.counter("DJIT+: clocks allocated", clocks_.load(std::memory_order_relaxed));
  }

 private:
  Arena& arena_;
  RaceSink& findings_;
  LocationTable<LocationMarks> table_;
  std::atomic<u64> same_frame_{0}, first_in_frame_{0}, clocks_{0};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Djit, context);

}  // namespace duress
