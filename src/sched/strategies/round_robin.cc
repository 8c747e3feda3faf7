// SPDX-License-Identifier: Apache-2.0
//
// Each strand in turn, in order of number, for a quantum of steps. No randomness but the quantum, 1 to 8 by
// the seed: a fair baseline, and the closest to what a time-slicing machine does.
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class RoundRobin final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    quantum_ = 1 + Prng(request.seed).below(8);
    turn_ = kNobody;
    since_ = 0;
  }

  StrandView* choose_thread(const Situation& situation) override {
    StrandView* lowest = nullptr;
    StrandView* after = nullptr;  // the lowest number above that of the turn
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (strand->number == turn_ && situation.step - since_ < quantum_) return strand;
      if (!lowest || strand->number < lowest->number) lowest = strand;
      if (turn_ != kNobody && strand->number > turn_ && (!after || strand->number < after->number)) {
        after = strand;
      }
    }
    StrandView* next = after ? after : lowest;
    turn_ = next->number;
    since_ = situation.step;
    return next;
  }

  u32 choose_value(ValueKind, u32) override { return 0; }

 private:
  static constexpr u32 kNobody = ~u32{0};

  u64 quantum_ = 1;
  u32 turn_ = kNobody;  // number of the strand whose turn it is
  u64 since_ = 0;       // the step at which its turn began
};

constinit RoundRobin g_round_robin;

}  // namespace

DURESS_DEFINE_STRATEGY(RoundRobin, g_round_robin);

}  // namespace duress::sched
