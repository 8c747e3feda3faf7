// SPDX-License-Identifier: Apache-2.0
//
// Runs programs of actions.h one step at a time under rc11; somebody else decides what could be otherwise.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "actions.h"

namespace duress::exhaustive::testing {

/// Decides who goes on, and everything else that could be otherwise.
struct Decider {
  virtual ~Decider() = default;
  virtual u32 thread(const std::vector<u32>& ready) = 0;
  virtual u32 age(u64 legal) = 0;      // bits
  virtual u32 woken(u64 waiting) = 0;  // bits
};

class ActionRunner final : memory::Rc11Picker {
 public:
  ActionRunner(const Actions& program, Decider& decider);

  void run();

  std::vector<Step> steps;
  u32 limits = 0;
  bool stuck = false;

 private:
  static constexpr u32 kNone = ~0u;
  bool over(u32 t) const { return next_[t] == program_.threads[t].size() && relock_[t] == kNone; }
  Action mine(u32 t) const {
    return relock_[t] != kNone ? sync(OpKind::kLock, relock_[t]) : program_.threads[t][next_[t]];
  }
  bool can_go(u32 t);
  void go_on(u32 t);
  u32 read(const memory::Legal& legal) override;
  u32 place(u32, u32) override;
  u32 legal_index(std::optional<u32> index);

  Step describe(u32 t);
  void step(u32 t);
  void access(u32 t, const Instruction& now, Step& s);
  void primitive(u32 t, const Action& now, u64& state);
  void wake(u32 woken, u32 by, u64& state);

  const Actions& program_;
  Decider& decider_;
  Rc11Memory memory_;
  std::map<u32, u64> states_;
  std::vector<std::size_t> next_;
  std::vector<u32> relock_;
  std::vector<bool> waiting_;
  std::vector<std::set<u32>> held_;
};

}  // namespace duress::exhaustive::testing
