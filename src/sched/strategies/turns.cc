// SPDX-License-Identifier: Apache-2.0
//
// Threads take turns: a strand runs until it comes to a place where it gives the turn to the next one. Which
// places these are is random, and the same in every iteration of a loop. So what needs threads to alternate
// many times, always at the same places, needs luck once for the places and not once for each iteration.
//
// In some executions the turn is given behind every operation that changes something instead: others see each
// change at once. Two threads that add to each other's number then alternate at each addition (Fibonacci).
//
// In others a strand gives the turn away right before a compare-and-swap, and has it again when the swap can
// succeed although the location was changed meanwhile (held_updates.h).
#include "sched/strategies/common.h"
#include "sched/strategies/held_updates.h"
#include "sched/strategies/place_table.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

/// A strand's mark names the operation that it was last chosen for, as a count from 1; mark2 says whether
/// that changes something.
class Turns final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    prng_ = Prng(request.seed);
    table_.start(prng_.next());
    // A half, a quarter or an eighth of the places; or behind changes; or before swaps.
    share_ = static_cast<u32>(prng_.below(6));
    held_.start();
    u64 order = prng_.below(8);
    order_ = order < 2 ? Order::kAny : order < 5 ? Order::kUp : Order::kDown;
    turn_ = kNobody;
    fair_from_ = pattern_length(request);
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (situation.choice >= fair_from_) return situation.runnable[prng_.below(situation.count)];
    if (share_ >= kBeforeSwaps) {
      StrandView* chosen = held_.choose(situation, turn_, prng_);
      turn_ = chosen->number;
      return chosen;
    }
    StrandView* next = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (strand->number == turn_ && !gives_turn(*strand)) next = strand;
    }
    if (next == nullptr)
      next = order_ == Order::kAny ? situation.runnable[prng_.below(situation.count)] : after_turn(situation);
    next->mark = next->operations + 1;
    next->mark2 = changes(next->next.kind) ? 1 : 0;
    turn_ = next->number;
    return next;
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

 private:
  enum class Order { kUp, kDown, kAny };  // who comes after whom, by number
  static constexpr u32 kNobody = ~u32{0};
  // Of share_; else a place gives the turn with 2^-share_.
  static constexpr u32 kBehindChanges = 0, kBeforeSwaps = 4;

  static bool changes(OpKind kind) {
    return writes(kind) || kind == OpKind::kUnlock || kind == OpKind::kPost || kind == OpKind::kSignal ||
           kind == OpKind::kBroadcast || kind == OpKind::kFutexWake;
  }

  bool gives_turn(const StrandView& strand) {
    // Chosen for this operation before, and it has not been performed: a strand that blocked and was woken.
    if (strand.mark == strand.operations + 1) return false;
    if (share_ == kBehindChanges) return strand.mark == strand.operations && strand.mark2 != 0;
    return table_.of(strand.next) >> (64 - share_) == 0;
  }

  /// The next one by number, up or down, and after the last one the first.
  StrandView* after_turn(const Situation& situation) const {
    StrandView* next = nullptr;
    u32 least = 0;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      // How far it is, going round: in unsigned numbers, what lies behind is far ahead.
      u32 distance = order_ == Order::kUp ? strand->number - turn_ - 1 : turn_ - strand->number - 1;
      if (next != nullptr && distance >= least) continue;
      next = strand;
      least = distance;
    }
    return next;
  }

  Prng prng_{0};
  PlaceTable table_;
  HeldUpdates held_;
  u32 share_ = 0;
  Order order_ = Order::kUp;
  u64 fair_from_ = 0;   // choice
  u32 turn_ = kNobody;  // number of the strand whose turn it is
};

constinit Turns g_turns;

}  // namespace

DURESS_DEFINE_STRATEGY(Turns, g_turns);

}  // namespace duress::sched
