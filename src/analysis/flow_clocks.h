// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks of an analysis' own: one for each element of a SyncFlow (threads, and what a release leaves
// behind). They share nothing with the clocks of the engine (sync_engine.h), so that analyses built on these
// check those, and an analysis may leave out synchronisation that does not count for it.
#pragma once

#include "analysis/sync_flow.h"
#include "clock/vector_clock.h"

namespace duress {

/// Threads: callers lock.
class FlowClocks final : private FlowSink {
 public:
  explicit FlowClocks(Arena& arena) : arena_(arena), flow_(arena), clocks_(arena) {}
  ~FlowClocks() {
    for (VectorClock* clock : clocks_) {
      if (!clock) continue;
      clock->~VectorClock();
      arena_.free(clock, sizeof(VectorClock));
    }
  }
  FlowClocks(const FlowClocks&) = delete;
  FlowClocks& operator=(const FlowClocks&) = delete;

  /// Threads are numbered by Tid: slots of threads that end are not reused. Threads beyond the number of
  /// slots share the last one: then more seems ordered, nothing less.
  static Slot slot(Tid tid) { return static_cast<Slot>(raw(tid) < kMaxSlots ? raw(tid) : kMaxSlots - 1); }

  /// The clock of a thread; its own counter starts at 1.
  VectorClock& thread(Tid tid) {
    VectorClock& clock = clock_of(flow_.thread(tid));
    if (!clock.get(slot(tid))) clock.set(slot(tid), 1);
    return clock;
  }
  void sync(const AnalysisThread& thread, const Sync& sync) {
    this->thread(thread.tid);
    flow_.apply(thread, sync, *this);
  }

  u64 joins() const { return joins_; }
  u64 allocated() const { return allocated_; }

 private:
  VectorClock& clock_of(Element e) {
    VectorClock*& clock = clocks_[raw(e)];
    if (!clock) {
      clock = arena_.make<VectorClock>(arena_);
      ++allocated_;
    }
    return *clock;
  }
  void learn(Element who, Element from) override {
    if (from == Element::kNobody) return;
    VectorClock& known = clock_of(from);
    clock_of(who).join(known);
    released(from, known);
  }
  void become(Element who, Element from) override {
    clock_of(who).clear();
    learn(who, from);
  }
  /// What a thread does after a release is not known to those who acquire it: its own counter grows.
  void released(Element from, VectorClock& clock) {
    ++joins_;
    if (flow_.name(from).role != ElementRole::kThread) return;
    Slot self = slot(static_cast<Tid>(flow_.name(from).address));
    Clock own = clock.get(self);
    clock.set(self, (own ? own : 1) + 1);
  }

  Arena& arena_;
  SyncFlow flow_;
  GrowingArray<VectorClock*> clocks_;  // by element
  u64 joins_ = 0, allocated_ = 0;
};

}  // namespace duress
