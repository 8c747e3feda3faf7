// SPDX-License-Identifier: Apache-2.0
//
// Probabilistic concurrency testing, the algorithm of Cuzz: every strand has a random priority and the
// highest runs; at d - 1 random choices the strand that would run falls below all others. A bug that d
// ordering constraints suffice to cause is found with p >= 1 / (n * k^(d-1)) in executions of n strands and k
// choices.
//
// The bound rests on three things. Priorities are drawn independently, so each of n strands is the lowest
// with 1/n, whenever it was created.
//
// The change points are drawn independently, each with its own priority, so any d - 1 choices with any order
// among the lowered strands have k^-(d-1). Were the points sorted first, a strand lowered later would always
// be the lower one, and some bugs of depth 3 could not be found.
//
// A point acts before its choice, on the strand that is about to run. The paper lowers the strand that has
// just run; but steps that a strand does while no other can run are not choices here, and after them it could
// not be lowered in time.
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class Pct final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    prng_ = Prng(request.seed);
    u64 length = request.expected_choices ? request.expected_choices : kUsualLength;
    u32 depth = request.depth < kDeepest ? request.depth : kDeepest;
    used_ = next_ = 0;
    fair_from_ = pattern_length(request);
    for (u32 i = 1; i < depth; ++i) insert({prng_.below(length), depth - i});
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (situation.choice >= fair_from_) return situation.runnable[prng_.below(situation.count)];
    StrandView* highest = highest_of(situation);
    // "<=": a point whose number turned out to be the choice of a value acts at the next choice of a strand.
    for (; next_ < used_ && points_[next_].choice <= situation.choice; ++next_) {
      highest->mark = points_[next_].priority;
      highest = highest_of(situation);
    }
    return highest;
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

 private:
  static constexpr u32 kDeepest = 64;
  static constexpr u64 kUsualLength = 1000;            // when the request does not know
  static constexpr u64 kLowestInitial = u64{1} << 32;  // above every priority of a change point

  struct ChangePoint {
    u64 choice;
    u64 priority;
  };

  /// Keeps points_ in order of choice; of equal ones, in the order they were drawn.
  void insert(ChangePoint point) {
    u32 at = used_++;
    for (; at > 0 && points_[at - 1].choice > point.choice; --at) points_[at] = points_[at - 1];
    points_[at] = point;
  }

  /// A strand's mark is its priority, given to it when it is first seen.
  StrandView* highest_of(const Situation& situation) {
    StrandView* highest = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (strand->mark == 0) strand->mark = prng_.next() | kLowestInitial;
      if (!highest || strand->mark > highest->mark ||
          (strand->mark == highest->mark && strand->number < highest->number)) {
        highest = strand;
      }
    }
    return highest;
  }

  Prng prng_{0};
  ChangePoint points_[kDeepest] = {};
  u32 used_ = 0;
  u32 next_ = 0;       // the first point that has not acted
  u64 fair_from_ = 0;  // choice
};

constinit Pct g_pct;

}  // namespace

DURESS_DEFINE_STRATEGY(Pct, g_pct);

}  // namespace duress::sched
