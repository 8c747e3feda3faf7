// SPDX-License-Identifier: Apache-2.0
//
// Partial order sampling: not strands but pending operations have random priorities, and the highest runs.
// Operations that conflict with the one that ran get new ones, so that the next race between them is open
// again; the others keep theirs, so that a long run of independent operations does not wear an order down:
// an operation comes after m independent ones with 1/(m+1), where a random walk has 2^-m.
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

/// A strand's mark is the priority of its pending operation; mark2 says which operation that is, as a count
/// from 1, or 0 if a new priority is due.
class PartialOrderSampling final : public Strategy {
 public:
  void start(const trail::Request& request) override { prng_ = Prng(request.seed); }

  StrandView* choose_thread(const Situation& situation) override {
    StrandView* highest = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (strand->mark2 != strand->operations + 1) {
        strand->mark = prng_.next();
        strand->mark2 = strand->operations + 1;
      }
      if (!highest || strand->mark > highest->mark ||
          (strand->mark == highest->mark && strand->number < highest->number)) {
        highest = strand;
      }
    }
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (strand != highest && conflict(strand->next, highest->next)) strand->mark2 = 0;
    }
    return highest;
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

 private:
  Prng prng_{0};
};

constinit PartialOrderSampling g_pos;

}  // namespace

DURESS_DEFINE_STRATEGY(Pos, g_pos);

}  // namespace duress::sched
