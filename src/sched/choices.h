// SPDX-License-Identifier: Apache-2.0
//
// The choices of an execution: the strategy makes them, the record lists those that deviate from the default
// (the running strand goes on, else the one with the lowest number; values 0).
#pragma once

#include "sched/strategy.h"

namespace duress::sched {

class Choices {
 public:
  /// An execution begins.
  void start(const trail::Request& request, trail::Record* record);
  /// The request has become another one, which is the same up to this first choice.
  void restart() { strategy_->start(*request_); }
  /// From now on this record is written.
  void set_record(trail::Record* record) { record_ = record; }
  void finish() {
    if (strategy_) strategy_->finish(*record_);
  }

  const trail::Request& request() const { return *request_; }
  trail::Record& record() const { return *record_; }
  Strategy& strategy() const { return *strategy_; }
  bool is_exhaustive() const { return request_->strategy == StrategyId::kExhaustive; }
  /// What the request wants of that step, 0 if nothing (trail::Pick::value).
  u32 wanted_at(u64 step) const { return step < request_->pick_count ? request_->picks()[step].value : 0; }

  u32 choose(ValueKind kind, u32 count);
  /// A value choice that the caller has made, unless the execution follows a trail: then the trail's.
  u32 decide(ValueKind kind, u32 count, u32 wanted);
  /// One of `count` strands, which is not `usual` if it deviates; `running` is null if it cannot go on.
  StrandView* choose_thread(StrandView* const* candidates, u32 count, StrandView* running, StrandView* usual,
                            u64 step);
  /// Writes down a choice.
  void note(trail::ChoiceKind kind, u32 value, bool deviates);

 private:
  const trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
  Strategy* strategy_ = nullptr;
};

}  // namespace duress::sched
