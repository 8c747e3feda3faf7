// SPDX-License-Identifier: Apache-2.0
//
// Happens-before through messages only: create, join, and what one thread releases and another acquires
// (notify, post, barrier). Neither locks nor atomics: what they ordered in this run may come the other way
// round in another. RaceFuzzer's phase 1 and RaceTrack order accesses by these.
#pragma once

#include "analysis/flow_clocks.h"

namespace duress {

/// A moment of a thread. Threads are numbered by Tid here: those that end are not reused.
struct Moment {
  Tid thread{};
  Clock clock = 0;
};

/// Threads: any; one lock.
class MessageClocks {
 public:
  explicit MessageClocks(Arena& arena) : clocks_(arena) {}

  /// Did something at `earlier` reach the thread by messages? Its own past always did.
  bool knows(Tid thread, Moment earlier) {
    if (thread == earlier.thread) return true;
    SpinGuard guard(lock_);
    return clocks_.thread(thread).get(FlowClocks::slot(earlier.thread)) >= earlier.clock;
  }
  Moment now(Tid thread) {
    SpinGuard guard(lock_);
    return {thread, clocks_.thread(thread).get(FlowClocks::slot(thread))};
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
    clocks_.sync(thread, sync);
  }

 private:
  SpinLock lock_;
  FlowClocks clocks_;
};

}  // namespace duress
