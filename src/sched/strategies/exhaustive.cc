// SPDX-License-Identifier: Apache-2.0
//
// One of the executions that stand for all: the request's picks first, one for each step, then the default.
// Which picks come next is decided outside (src/exhaustive), from what the execution wrote down.
#include "sched/scheduler.h"
#include "sched/strategies/common.h"
#include "sched/strategies/strategies_list.h"

namespace duress::sched {
namespace {

class Exhaustive final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    picks_ = request.picked();
    count_ = request.picks;
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (situation.step < count_) {
      for (u32 i = 0; i < situation.count; ++i) {
        if (situation.runnable[i]->id == picks_[situation.step].strand) return situation.runnable[i];
      }
    }
    return default_thread(situation);
  }

  u32 choose_value(ValueKind, u32) override { return 0; }

 private:
  const trail::Pick* picks_ = nullptr;
  u64 count_ = 0;
};

constinit Exhaustive g_exhaustive;

}  // namespace

Strategy& exhaustive_strategy() {
  return g_exhaustive;
}

}  // namespace duress::sched
