// SPDX-License-Identifier: Apache-2.0
//
// Priorities for places in the program: of all strands, the one whose next operation is at the place with the
// highest priority runs. So all threads come to a place before any goes past it, or none comes there before
// all others have finished what they do elsewhere, however many threads there are. "Some writer has done its
// first stage and none its second when the reader comes" needs an order of four places: it has 1 in 12, for
// one writer and for a hundred, where priorities of strands (pct) need luck with every one of them.
//
// At d - 1 random choices the place that is about to run falls below all others, for what no fixed order of
// places shows. Strands at the same place: in half of the executions the running one goes on, in the others
// any.
#include "sched/strategies/common.h"
#include "sched/strategies/place_table.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class Places final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    prng_ = Prng(request.seed);
    table_.start(prng_.next());
    stays_ = prng_.chance(1, 2);
    fair_from_ = pattern_length(request);
    changes_ = request.depth > 1 ? request.depth - 1 : 0;
    length_ = request.expected_choices ? request.expected_choices : kUsualLength;
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (situation.choice >= fair_from_) return situation.runnable[prng_.below(situation.count)];
    StrandView* best = highest_of(situation);
    if (changes_ != 0 && prng_.chance(changes_, length_)) {
      table_.of(best->next) = prng_.next() >> 32;
      best = highest_of(situation);
    }
    return best;
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

 private:
  static constexpr u64 kUsualLength = 1000;

  StrandView* highest_of(const Situation& situation) {
    StrandView* best = nullptr;
    u64 highest = 0;
    u32 equal = 0;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      u64 priority = table_.of(strand->next);
      if (best != nullptr && priority < highest) continue;
      equal = best != nullptr && priority == highest ? equal + 1 : 1;
      highest = priority;
      // Each of the equal ones with the same probability; or the running one.
      bool takes = equal == 1 || (stays_ ? strand == situation.running : prng_.chance(1, equal));
      if (takes) best = strand;
    }
    return best;
  }

  Prng prng_{0};
  PlaceTable table_;
  bool stays_ = false;
  u64 changes_ = 0, length_ = 0;
  u64 fair_from_ = 0;  // choice
};

constinit Places g_places;

}  // namespace

DURESS_DEFINE_STRATEGY(Places, g_places);

}  // namespace duress::sched
