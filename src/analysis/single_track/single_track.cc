// SPDX-License-Identifier: Apache-2.0
//
// SingleTrack (Sadowski, Freund and Flanagan): is the program deterministic? Conflicting accesses must be
// ordered by communication that is the same in every run: creating and joining threads, and messages. Where
// only a lock or an atomic orders them, who comes first is the schedule's choice.
#include "analysis/access_note.h"
#include "analysis/arena_list.h"
#include "analysis/location_table.h"
#include "analysis/message_clocks.h"

namespace duress {
namespace {

struct Earlier {
  AccessNote note;
  Clock clock;
};
using Order = ArenaList<Earlier>;  // the last write first, then the reads since

class SingleTrack final : public Analysis {
 public:
  explicit SingleTrack(const AnalysisContext& context)
      : arena_(context.arena), findings_(context.findings), messages_(context.arena), table_(context.arena) {}
  const char* name() const override { return "SingleTrack"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    bool write = is_write(access.kind);
    Clock now = messages_.now(thread.tid).clock;
    table_.access(access.address, access.size, [&](Order& order, uptr at, u32) {
      for (const Earlier& earlier : order) {
        if (!write && !is_write(earlier.note.kind)) continue;
        if (messages_.knows(thread.tid, {earlier.note.thread, earlier.clock})) continue;
        unordered_.fetch_add(1, std::memory_order_relaxed);
        findings_.warning({"SingleTrack",
                           "order of accesses depends on the schedule",
                           at,
                           2,
                           {note.side(), earlier.note.side()}});
        break;
      }
      if (write) {
        order.count = 0;
      } else {
        for (Earlier& earlier : order) {
          if (earlier.note.thread == thread.tid && !is_write(earlier.note.kind)) {
            earlier = {note, now};
            return;
          }
        }
      }
      order.push(arena_, {note, now});
    });
    return Pass::kForward;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override { messages_.sync(thread, sync); }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("SingleTrack: conflicts left to the schedule", unordered_.load(std::memory_order_relaxed));
  }

 private:
  Arena& arena_;
  RaceSink& findings_;
  MessageClocks messages_;
  LocationTable<Order> table_;
  std::atomic<u64> unordered_{0};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(SingleTrack, context);

}  // namespace duress
