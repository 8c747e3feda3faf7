// SPDX-License-Identifier: Apache-2.0
//
// One execution of a systematic exploration: the request's picks first, one for each step, then the default
// or what the request's order (catalog/orders.h) prefers. The explorer (src/exhaustive) decides from the
// step log which picks come next.
#include "catalog/orders.h"
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

bool releases(OpKind kind) {
  return writes(kind) || kind == OpKind::kUnlock || kind == OpKind::kPost;
}
bool acquires(OpKind kind) {
  return kind == OpKind::kAtomicRead || kind == OpKind::kAtomicRmw || kind == OpKind::kLock ||
         kind == OpKind::kTryLock || kind == OpKind::kReadLock || kind == OpKind::kTryReadLock ||
         kind == OpKind::kAcquire || kind == OpKind::kTryAcquire;
}

class Exhaustive final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    picks_ = request.picks().data();
    count_ = request.pick_count;
    order_ = request.exploration_order;
    by_graphs_ = order_ == ExplorationOrder::kByGraph;
    first_ = request.priority_strands;
    for (Released& entry : released_) entry = {};
  }

  StrandView* choose_thread(const Situation& situation) override {
    StrandView* chosen = choose(situation);
    if (order_ != ExplorationOrder::kRunOn && releases(chosen->next.kind)) {
      released_[slot(chosen->next)] = {chosen->next.object, 1 + chosen->id};
    }
    return chosen;
  }

  u32 choose_value(ValueKind, u32) override { return 0; }

 private:
  /// Who released an object last. Steps at which there was no choice are not seen, so this is a heuristic.
  struct Released {
    uptr object;
    u32 by;  // 1 + its id
  };

  StrandView* choose(const Situation& situation) {
    if (situation.step < count_) {
      for (u32 i = 0; i < situation.count; ++i) {
        if (situation.runnable[i]->id == picks_[situation.step].strand) return situation.runnable[i];
      }
    }
    if (by_graphs_) return lowest(situation);
    StrandView* best = default_thread(situation);
    if (order_ == ExplorationOrder::kRunOn) return best;
    // The lowest of those that the order prefers; else the default.
    bool preferred = prefers(*best);
    for (u32 i = 0; i < situation.count && !(preferred && best == situation.running); ++i) {
      StrandView* other = situation.runnable[i];
      if (!prefers(*other) || (preferred && other->number > best->number)) continue;
      best = other;
      preferred = true;
    }
    return best;
  }

  /// Exploring by graphs (exhaustive/graph_explorer.h): the choice must follow from the graph alone. Those
  /// that were promised a lock come first, those in a loop that waits last: what it waits for may come.
  StrandView* lowest(const Situation& situation) {
    auto rank = [&](const StrandView& strand) {
      return (first_ >> strand.id & 1) != 0 ? 0 : 1 + strand.at_await;
    };
    StrandView* best = situation.runnable[0];
    for (u32 i = 1; i < situation.count; ++i) {
      StrandView* other = situation.runnable[i];
      int mine = rank(*best), its = rank(*other);
      if (its < mine || (its == mine && other->id < best->id)) best = other;
    }
    first_ &= ~(u64{1} << best->id);
    return best;
  }

  bool prefers(const StrandView& strand) const {
    const Operation& next = strand.next;
    const Released& released = released_[slot(next)];
    bool by_other = released.object == next.object && released.by != 0 && released.by != 1 + strand.id;
    switch (order_) {
      case ExplorationOrder::kWritesFirst:
        return writes(next.kind);
      case ExplorationOrder::kWatchWritten:
        return by_other;
      case ExplorationOrder::kAvoidRelease:
        return !(acquires(next.kind) && by_other);
      case ExplorationOrder::kAcquireFirst:
        return acquires(next.kind) && !by_other;
      default:
        return false;
    }
  }

  static u32 slot(const Operation& operation) { return static_cast<u32>(mix(operation.object)) % kObjects; }

  static constexpr u32 kObjects = 256;
  const trail::Pick* picks_ = nullptr;
  u64 count_ = 0;
  ExplorationOrder order_ = ExplorationOrder::kRunOn;
  bool by_graphs_ = false;
  u64 first_ = 0;
  Released released_[kObjects] = {};
};

constinit Exhaustive g_exhaustive;

}  // namespace

DURESS_DEFINE_STRATEGY(Exhaustive, g_exhaustive);

}  // namespace duress::sched
