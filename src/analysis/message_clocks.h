// SPDX-License-Identifier: Apache-2.0
//
// Happens-before through messages only: create, join, and what one thread releases and another acquires
// (notify, post, barrier). Neither locks nor atomics: what they ordered in this run may come the other way
// round in another. RaceFuzzer's phase 1 and RaceTrack order accesses by these.
#ifndef DURESS_ANALYSIS_MESSAGE_CLOCKS_H_
#define DURESS_ANALYSIS_MESSAGE_CLOCKS_H_

#include "analysis/sync_flow.h"
#include "clock/vector_clock.h"

namespace duress {

/// A moment of a thread. Threads are numbered by Tid here: those that end are not reused.
struct Moment {
  Tid thread{};
  Clock clock = 0;
};

/// Threads: any; one lock.
class MessageClocks final : private FlowSink {
 public:
  explicit MessageClocks(Arena& arena) : arena_(arena), flow_(arena), clocks_(arena) {}
  ~MessageClocks() {
    for (VectorClock* clock : clocks_) drop(clock);
  }

  /// Did something at `earlier` reach the thread by messages? Its own past always did.
  bool knows(Tid thread, Moment earlier) {
    if (thread == earlier.thread) return true;
    SpinGuard guard(lock_);
    return clock_of(flow_.thread(thread)).get(slot(earlier.thread)) >= earlier.clock;
  }
  Moment now(Tid thread) {
    SpinGuard guard(lock_);
    return {thread, own(thread)};
  }
  void sync(const AnalysisThread& thread, const Sync& sync) {
    switch (sync.kind) {
      case SyncKind::kRelease:
      case SyncKind::kAcquire:
      case SyncKind::kForget:
      case SyncKind::kThreadCreate:
      case SyncKind::kThreadJoin:
        break;
      default:
        return;
    }
    SpinGuard guard(lock_);
    own(thread.tid);
    flow_.apply(thread, sync, *this);
  }

 private:
  // Threads beyond the number of slots share the last one: then more seems ordered, nothing less.
  static Slot slot(Tid tid) { return static_cast<Slot>(raw(tid) < kMaxSlots ? raw(tid) : kMaxSlots - 1); }
  void drop(VectorClock* clock) {
    if (!clock) return;
    clock->~VectorClock();
    arena_.free(clock, sizeof(VectorClock));
  }
  VectorClock& clock_of(Element e) {
    VectorClock*& clock = clocks_[raw(e)];
    if (!clock) clock = arena_.make<VectorClock>(arena_);
    return *clock;
  }
  Clock own(Tid tid) {
    VectorClock& clock = clock_of(flow_.thread(tid));
    if (!clock.get(slot(tid))) clock.set(slot(tid), 1);
    return clock.get(slot(tid));
  }
  void learn(Element who, Element from) override {
    if (from == Element::kNobody) return;
    const VectorClock& known = clock_of(from);
    clock_of(who).join(known);
    told(from);
  }
  void become(Element who, Element from) override {
    VectorClock& clock = clock_of(who);
    clock.clear();
    if (from == Element::kNobody) return;
    clock.join(clock_of(from));
    told(from);
  }
  /// What a thread does after it told what it knows is not known with it.
  void told(Element from) {
    if (flow_.name(from).role != ElementRole::kThread) return;
    Tid tid = static_cast<Tid>(flow_.name(from).address);
    clock_of(from).set(slot(tid), own(tid) + 1);
  }

  Arena& arena_;
  SpinLock lock_;
  SyncFlow flow_;
  GrowingArray<VectorClock*> clocks_;  // by element
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_MESSAGE_CLOCKS_H_
