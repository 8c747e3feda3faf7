// SPDX-License-Identifier: Apache-2.0
//
// HappensBefore: the textbook's detector. Clocks of its own for threads and everything that synchronises
// them, full read and write clocks for each location, every access compared. It shares no clock with the
// runtime, so it also checks those.
#include "analysis/location_table.h"
#include "analysis/marks.h"
#include "analysis/sync_flow.h"

namespace duress {
namespace {

class HappensBefore final : public Analysis, private FlowSink {
 public:
  explicit HappensBefore(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        flow_(context.arena),
        clocks_(context.arena),
        table_(context.arena) {}
  ~HappensBefore() override {
    for (VectorClock* clock : clocks_) {
      if (!clock) continue;
      clock->~VectorClock();
      arena_.free(clock, sizeof(VectorClock));
    }
  }
  const char* name() const override { return "HappensBefore"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    AccessClass c = class_of(access.kind);
    bool raced = false;
    SpinGuard guard(lock_);
    VectorClock& known = clock_of(flow_.thread(thread.tid));
    Slot self = slot(thread.tid);
    if (!known.get(self)) known.set(self, 1);
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
    VectorClock& known = clock_of(flow_.thread(thread.tid));
    if (!known.get(slot(thread.tid))) known.set(slot(thread.tid), 1);
    flow_.apply(thread, sync, *this);
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("HappensBefore: comparisons", compared_);
    out.counter("HappensBefore: joins", joins_);
    out.counter("HappensBefore: clocks allocated", clocks_made_);
  }

 private:
  static Slot slot(Tid tid) { return static_cast<Slot>(raw(tid) < kMaxSlots ? raw(tid) : kMaxSlots - 1); }
  VectorClock& clock_of(Element e) {
    VectorClock*& clock = clocks_[raw(e)];
    if (!clock) {
      clock = arena_.make<VectorClock>(arena_);
      ++clocks_made_;
    }
    return *clock;
  }
  void learn(Element who, Element from) override {
    if (from == Element::kNobody) return;
    ++joins_;
    VectorClock& known = clock_of(from);
    clock_of(who).join(known);
    told(from, known);
  }
  void become(Element who, Element from) override {
    VectorClock& clock = clock_of(who);
    clock.clear();
    if (from == Element::kNobody) return;
    ++joins_;
    VectorClock& known = clock_of(from);
    clock.join(known);
    told(from, known);
  }
  void told(Element from, VectorClock& clock) {
    if (flow_.name(from).role != ElementRole::kThread) return;
    Slot self = slot(static_cast<Tid>(flow_.name(from).address));
    clock.set(self, clock.get(self) + 1);
  }

  Arena& arena_;
  RaceSink& findings_;
  SpinLock lock_;  // everything below
  SyncFlow flow_;
  GrowingArray<VectorClock*> clocks_;  // by element
  LocationTable<LocationMarks> table_;
  u64 compared_ = 0, joins_ = 0, clocks_made_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(HappensBefore, context);

}  // namespace duress
