// SPDX-License-Identifier: Apache-2.0
//
// LockOrder: potential deadlocks. A lock that is taken while another is held comes after it; a cycle of two
// threads that take two locks the other way round may block both. Both may be held apart by a third lock that
// both hold (a gate), or by being ordered through messages; such pairs are not reported.
#include "analysis/access_note.h"
#include "analysis/growing_array.h"
#include "analysis/message_clocks.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

class LockOrder final : public Analysis {
 public:
  explicit LockOrder(const AnalysisContext& context)
      : findings_(context.findings),
        lock_sets_(context.lock_sets),
        edges_(context.arena),
        messages_(context.arena) {}
  const char* name() const override { return "LockOrder"; }

  Pass access(AnalysisThread&, const Access&) override { return Pass::kForward; }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    messages_.sync(thread, sync);
    if (sync.kind != SyncKind::kMutexLock && sync.kind != SyncKind::kReadLock) return;
    AccessNote note{sync.place, thread.tid, *thread.locks, AccessKind::kRead};
    Clock now = messages_.now(thread.tid).clock;
    u32 count;
    const HeldLock* held = lock_sets_.locks(*thread.locks, &count);  // the new one is the last
    SpinGuard guard(lock_);
    for (u32 i = 0; i + 1 < count; ++i) {
      if (held[i].address != sync.object) add({held[i].address, sync.object, note, now});
    }
  }
  void counters(CounterSink& out) const override { out.counter("LockOrder: edges", edges_.size()); }

 private:
  static constexpr size_t kMostEdges = 4096;
  struct Edge {
    uptr first, second;
    AccessNote note;  // where the second was taken, with the locks held then
    Clock clock;
  };

  void add(const Edge& edge) {
    for (Edge& known : edges_) {
      if (known.first == edge.first && known.second == edge.second && known.note.thread == edge.note.thread &&
          known.note.locks == edge.note.locks && known.note.place.stack == edge.note.place.stack) {
        known = edge;
        return;
      }
    }
    for (const Edge& known : edges_) {
      if (known.first != edge.second || known.second != edge.first || known.note.thread == edge.note.thread)
        continue;
      if (gated(known, edge) || messages_.knows(edge.note.thread, {known.note.thread, known.clock})) continue;
      findings_.warning({"LockOrder",
                         "potential deadlock: two locks are taken in both orders",
                         edge.second,
                         2,
                         {edge.note.side(), known.note.side()}});
    }
    if (edges_.size() < kMostEdges) edges_.push() = edge;
  }
  /// Do both hold a further lock that lets only one of them in?
  bool gated(const Edge& a, const Edge& b) const {
    u32 a_count, b_count;
    const HeldLock* as = lock_sets_.locks(a.note.locks, &a_count);
    const HeldLock* bs = lock_sets_.locks(b.note.locks, &b_count);
    for (u32 i = 0; i < a_count; ++i) {
      for (u32 k = 0; k < b_count; ++k) {
        if (as[i].address != bs[k].address || (as[i].shared && bs[k].shared)) continue;
        if (as[i].address != a.first && as[i].address != a.second) return true;
      }
    }
    return false;
  }

  RaceSink& findings_;
  LockSets& lock_sets_;
  SpinLock lock_;
  GrowingArray<Edge> edges_;
  MessageClocks messages_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(LockOrder, context);

}  // namespace duress
