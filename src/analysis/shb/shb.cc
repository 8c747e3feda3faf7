// SPDX-License-Identifier: Apache-2.0
//
// SHB, schedulable happens-before (Mathur, Kini and Viswanathan): happens-before, and every read after the
// write it read. Only the first race that happens-before reports is sure to be one: what comes after it may
// exist only because of what the racing read returned. Two accesses that SHB does not order can be brought
// together in a reordering where every read before them still reads the same; so each pair that is reported
// is a race.
#include "analysis/flow_clocks.h"
#include "analysis/location_table.h"
#include "analysis/marks.h"

namespace duress {
namespace {

struct Schedule {
  LocationMarks marks;
  VectorClock* last_write = nullptr;  // what its thread knew

  Schedule copy(Arena& arena) const {
    Schedule s;
    s.marks = marks.copy(arena);
    if (last_write) {
      s.last_write = arena.make<VectorClock>(arena);
      s.last_write->join(*last_write);
    }
    return s;
  }
  void drop(Arena& arena) {
    marks.drop(arena);
    if (!last_write) return;
    last_write->~VectorClock();
    arena.free(last_write, sizeof(VectorClock));
  }
};

class Shb final : public Analysis {
 public:
  explicit Shb(const AnalysisContext& context)
      : arena_(context.arena), findings_(context.findings), clocks_(context.arena), table_(context.arena) {}
  const char* name() const override { return "SHB"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    AccessClass c = class_of(access.kind);
    bool raced = false;
    SpinGuard guard(lock_);
    VectorClock& known = clocks_.thread(thread.tid);
    Slot self = FlowClocks::slot(thread.tid);
    bool reads = !is_write(access.kind) || access.kind == AccessKind::kAtomicRmw;
    // All pieces are compared before the reads acquire anything: they are one access.
    table_.access(access.address, access.size, [&](Schedule& s, uptr at, u32 size) {
      const AccessNote* earlier = s.marks.racing(c, known);
      if (!earlier) return;
      raced = true;
      findings_.race({"SHB", at, size, earlier->side(), note.side()});
    });
    bool learnt = false;
    if (reads) {
      table_.access(access.address, access.size, [&](Schedule& s, uptr, u32) {
        if (s.last_write) learnt |= known.join(*s.last_write);
      });
    }
    reads_from_ += learnt;
    table_.access(access.address, access.size, [&](Schedule& s, uptr, u32) {
      s.marks.of[static_cast<int>(c)].set(arena_, self, known.get(self), note);
      if (!is_write(access.kind)) return;
      if (!s.last_write) s.last_write = arena_.make<VectorClock>(arena_);
      s.last_write->clear();
      s.last_write->join(known);
    });
    // A later access of this thread is not known with this write.
    if (is_write(access.kind)) known.set(self, known.get(self) + 1);
    return raced ? Pass::kForward : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    SpinGuard guard(lock_);
    clocks_.sync(thread, sync);
  }
  void fresh(uptr begin, uptr end) override {
    SpinGuard guard(lock_);
    table_.forget(begin, end);
  }
  void counters(CounterSink& out) const override { out.counter("SHB: reads that learnt", reads_from_); }

 private:
  Arena& arena_;
  RaceSink& findings_;
  SpinLock lock_;  // everything below
  FlowClocks clocks_;
  LocationTable<Schedule> table_;
  u64 reads_from_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Shb, context);

}  // namespace duress
