// SPDX-License-Identifier: Apache-2.0
//
// Follows the request's trail: at each choice the deviation of that number, or the default choice if there is
// none. A deviation that cannot be followed (its strand cannot run, its value does not exist, the choice is
// of the other kind or never comes) is a divergence: the first is reported, and the execution goes on by the
// default, with the rest of the trail still in force.
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class Replay final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    deviation_ = request.trail().begin();
    end_ = request.trail().end();
    choice_ = 0;
    diverged_ = 0;
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (const trail::Deviation* deviation = take(trail::ChoiceKind::kThread)) {
      for (u32 i = 0; i < situation.count; ++i) {
        if (situation.runnable[i]->number == deviation->pick()) return situation.runnable[i];
      }
      diverge(*deviation);
    }
    return default_thread(situation);
  }

  u32 choose_value(ValueKind, u32 count) override {
    if (const trail::Deviation* deviation = take(trail::ChoiceKind::kValue)) {
      if (deviation->pick() < count) return deviation->pick();
      diverge(*deviation);
    }
    return 0;
  }

  void finish(trail::Record& record) override {
    record.diverged = diverged_;
    if (diverged_ == 0 && deviation_ != end_) record.diverged = 1 + u64{deviation_->choice};
  }

 private:
  /// Counts one choice; gives its deviation, if the trail has one of that kind. Counts here because a choice
  /// of a value does not come with its number.
  const trail::Deviation* take(trail::ChoiceKind kind) {
    u64 number = choice_++;
    // Only a trail that is not in strictly ascending order has any that were passed over.
    for (; deviation_ != end_ && deviation_->choice < number; ++deviation_) diverge(*deviation_);
    if (deviation_ == end_ || deviation_->choice != number) return nullptr;
    const trail::Deviation* deviation = deviation_++;
    if (deviation->kind() == kind) return deviation;
    diverge(*deviation);
    return nullptr;
  }

  void diverge(const trail::Deviation& deviation) {
    if (diverged_ == 0) diverged_ = 1 + u64{deviation.choice};
  }

  const trail::Deviation* deviation_ = nullptr;  // the next to follow
  const trail::Deviation* end_ = nullptr;
  u64 choice_ = 0;    // number of the next choice
  u64 diverged_ = 0;  // as in Record
};

constinit Replay g_replay;

}  // namespace

DURESS_DEFINE_STRATEGY(Replay, g_replay);

}  // namespace duress::sched
