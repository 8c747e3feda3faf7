// SPDX-License-Identifier: Apache-2.0
#include "sched/choices.h"

#include "base/check.h"

namespace duress::sched {

void Choices::start(const trail::Request& request, trail::Record* record) {
  request_ = &request;
  record_ = record;
  record->magic = trail::kMagic;
  record->version = trail::kVersion;
  strategy_ = strategy_of(request.strategy);
  if (!strategy_) fatal("the request names a strategy that this runtime does not have");
  strategy_->start(request);
}

void Choices::note(trail::ChoiceKind kind, u32 value, bool deviates) {
  u64 number = record_->choices++;
  if (!deviates) return;
  if (record_->deviations == trail::kMostDeviations) {
    record_->truncated = 1;
    return;
  }
  record_->trail()[record_->deviations] = trail::Deviation::of(static_cast<u32>(number), kind, value);
  ++record_->deviations;
}

u32 Choices::choose(ValueKind kind, u32 count) {
  if (count <= 1) return 0;
  u32 value = strategy_->choose_value(kind, count);
  DURESS_CHECK(value < count);
  note(trail::ChoiceKind::kValue, value, value != 0);
  return value;
}

u32 Choices::decide(ValueKind kind, u32 count, u32 wanted) {
  if (count <= 1) return 0;
  bool follows = request_->strategy == StrategyId::kReplay;
  u32 value = follows ? strategy_->choose_value(kind, count) : wanted;
  DURESS_CHECK(value < count);
  note(trail::ChoiceKind::kValue, value, value != 0);
  return value;
}

StrandView* Choices::choose_thread(StrandView* const* candidates, u32 count, StrandView* running,
                                   StrandView* usual, u64 step) {
  Situation situation = {record_->choices, step, candidates, count, running};
  StrandView* next = strategy_->choose_thread(situation);
  note(trail::ChoiceKind::kThread, next->number, next != usual);
  record_->switches += running && next != running;
  return next;
}

}  // namespace duress::sched
