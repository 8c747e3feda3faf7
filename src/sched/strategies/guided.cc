// SPDX-License-Identifier: Apache-2.0
//
// Follows a short list of switches that the host has planned, and otherwise lets the running strand go on.
// What fails with few preemptions at the right places is found by going through the places, where random
// strategies need luck with each: the host plans no switch, then one at every place, then a second one after
// those that led to something new (src/search/guide.h).
//
// Where another switch could follow is written down: for each strand and place the visits after the last
// planned switch. The host continues plans at the first and the last of them, and later at those between.
#include "sched/place_key.h"
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class Guided final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    prng_ = Prng(request.seed);
    next_ = request.planned().begin();
    end_ = request.planned().end();
    visits_ = 0;
    strand_ = 0;
    ++execution_;
    used_ = 0;
    fair_from_ = pattern_length(request);
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (situation.choice >= fair_from_) return situation.runnable[prng_.below(situation.count)];
    StrandView* usual = default_thread(situation);
    StrandView* chosen = usual;
    u32 strand = situation.running ? situation.running->number : strand_;
    u32 place = situation.running ? place_key(situation.running->next) : trail::PlannedSwitch::kCannotGoOn;
    if (next_ == end_) {
      note(strand, place, situation, *usual);
    } else if (strand == next_->strand && place == next_->place && ++visits_ == next_->visit) {
      for (u32 i = 0; i < situation.count; ++i) {
        if (situation.runnable[i]->number == next_->to) chosen = situation.runnable[i];
      }
      ++next_;
      visits_ = 0;
    }
    strand_ = chosen->number;
    return chosen;
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

  void finish(trail::Record& record) override {
    record.switch_point_count = used_;
    for (u32 i = 0; i < used_; ++i) record.switch_points()[i] = points_[i];
  }

 private:
  static constexpr u32 kSlots = 2 * trail::kMostSwitchPoints;
  struct Slot {
    u32 execution, point;
  };

  static u64 targets_of(const Situation& situation, const StrandView& usual) {
    u64 targets = 0;
    for (u32 i = 0; i < situation.count; ++i) {
      u32 number = situation.runnable[i]->number;
      if (number != usual.number && number < 64) targets |= u64{1} << number;
    }
    return targets;
  }

  void note(u32 strand, u32 place, const Situation& situation, const StrandView& usual) {
    u64 at = mix(u64{strand} << 32 | place) % kSlots;
    for (; slots_[at].execution == execution_; at = (at + 1) % kSlots) {
      trail::SwitchPoint& point = points_[slots_[at].point];
      if (point.strand != strand || point.place != place) continue;
      ++point.visits;
      point.last_targets = targets_of(situation, usual);
      return;
    }
    if (used_ == trail::kMostSwitchPoints) return;
    slots_[at] = {execution_, used_};
    u64 targets = targets_of(situation, usual);
    points_[used_++] = {strand, place, 1, 0, targets, targets};
  }

  Prng prng_{0};
  const trail::PlannedSwitch* next_ = nullptr;
  const trail::PlannedSwitch* end_ = nullptr;
  u32 visits_ = 0;     // of the place of the next switch
  u32 strand_ = 0;     // number of the one that was chosen last
  u64 fair_from_ = 0;  // choice
  u32 execution_ = 0;
  u32 used_ = 0;
  trail::SwitchPoint points_[trail::kMostSwitchPoints] = {};
  Slot slots_[kSlots] = {};
};

constinit Guided g_guided;

}  // namespace

DURESS_DEFINE_STRATEGY(Guided, g_guided);

}  // namespace duress::sched
