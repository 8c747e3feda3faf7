// SPDX-License-Identifier: Apache-2.0
//
// DJIT+ (Pozniansky and Schuster): a clock of reads and one of writes for each location; only the first
// access of its kind in a time frame, the stretch between two releases of a thread, is looked at.
#include "analysis/location_table.h"
#include "analysis/marks.h"
#include "clock/thread_clock.h"

namespace duress {
namespace {

class Djit final : public Analysis {
 public:
  explicit Djit(const AnalysisContext& context)
      : arena_(context.arena), findings_(context.findings), table_(context.arena) {}
  const char* name() const override { return "DJIT+"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    thread.clock->tick_if_released();
    AccessNote note = AccessNote::of(thread, access);
    AccessClass c = class_of(access.kind);
    Slot slot = thread.clock->slot();
    Clock now = thread.clock->own();
    bool raced = false;
    table_.access(access.address, access.size, [&](LocationMarks& marks, uptr at, u32 size) {
      Marks& own = marks.of[static_cast<int>(c)];
      if (own.get(slot) == now) {
        same_frame_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      first_in_frame_.fetch_add(1, std::memory_order_relaxed);
      if (const AccessNote* earlier = marks.racing(c, thread.clock->clock())) {
        raced = true;
        findings_.race({"DJIT+", at, size, earlier->side(), note.side()});
      }
      if (own.set(arena_, slot, now, note)) clocks_.fetch_add(1, std::memory_order_relaxed);
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
