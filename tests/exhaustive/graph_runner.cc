// SPDX-License-Identifier: Apache-2.0
#include "graph_runner.h"

namespace duress::exhaustive::testing {

using What = Instruction::What;

GraphRunner::GraphRunner(const Program& program)
    : program_(program), memory_(program.threads.size(), program.locations), next_(program.threads.size()) {
  for (u32 t = 0; t < next_.size(); ++t) fences(t);
}

void GraphRunner::run(memory::testing::Decisions& decisions) {
  decisions_ = &decisions;
  for (;;) {
    std::vector<u32> ready;
    for (u32 t = 0; t < next_.size(); ++t) {
      if (can_go(t)) ready.push_back(t);
    }
    if (ready.empty()) break;
    step(ready[decisions.choose(static_cast<u32>(ready.size()))]);
  }
  for (u32 t = 0; t < next_.size(); ++t) stuck |= !over(t);
}

void GraphRunner::run(const GraphExplorer::Plan& plan) {
  u64 first = plan.first;
  for (u32 n = 0;; ++n) {
    i32 chosen = -1;
    wanted_ = 0;
    if (n < plan.count) {
      if (!can_go(plan.picks[n].strand)) return void(limits |= StepLog::kIllegal);
      chosen = plan.picks[n].strand;
      wanted_ = plan.picks[n].value;
    }
    for (u32 t = 0; chosen < 0 && t < next_.size(); ++t) {
      if ((first >> t & 1) && can_go(t)) chosen = static_cast<i32>(t);
    }
    for (u32 t = 0; chosen < 0 && t < next_.size(); ++t) {
      if (can_go(t)) chosen = static_cast<i32>(t);
    }
    if (chosen < 0) break;
    if (n >= plan.count) first &= ~(u64{1} << chosen);
    step(static_cast<u32>(chosen));
  }
  for (u32 t = 0; t < next_.size(); ++t) {
    if (over(t)) continue;
    stuck = true;
    Step s;
    s.kind = OpKind::kLock;
    s.flags = Step::kPending;
    s.strand = static_cast<u8>(t);
    s.add(Rc11Memory::primitive(mine(t).location), 1, Mode::kWrite, 0);
    steps.push_back(s);
  }
}

bool GraphRunner::can_go(u32 t) const {
  return !over(t) && (mine(t).what != What::kAcquire || held_.count(mine(t).location) == 0);
}

u32 GraphRunner::legal_index(std::optional<u32> index) {
  if (!index) limits |= StepLog::kIllegal;
  return index.value_or(0);
}

u32 GraphRunner::read(const memory::Legal& legal) {
  return decisions_ ? decisions_->choose(legal.count) : legal_index(index_of_age(legal, wanted_));
}

u32 GraphRunner::place(u32 places, u32) {
  return decisions_ ? decisions_->choose(places) : legal_index(index_of_age(memory_.open().legal, wanted_));
}

void GraphRunner::fences(u32 t) {
  for (; !over(t) && mine(t).what == What::kFence; ++next_[t]) memory_.fence(t, mine(t).order);
}

void GraphRunner::step(u32 t) {
  u32 where = mine(t).location;
  Step s;
  s.kind = kind_of(mine(t));
  s.strand = static_cast<u8>(t);
  if (is_access(s.kind)) {
    access(t, s);
  } else {
    s.add(Rc11Memory::primitive(where), 1, Mode::kWrite, 0);
    if (s.kind == OpKind::kLock) {
      memory_.acquire(t, where);
      held_.insert(where);
    } else {
      memory_.release(t, where);
      held_.erase(where);
    }
  }
  steps.push_back(s);
  ++next_[t];
  fences(t);
}

void GraphRunner::access(u32 t, Step& s) {
  bool wrote = memory_.access(t, mine(t), *this);
  const memory::Rc11Model::Open& open = memory_.open();
  s.add(Rc11Memory::location(mine(t).location), 8, wrote ? Mode::kWrite : Mode::kRead, open.floor);
  s.value = static_cast<u8>(open.picked);
  s.choices = open.legal;
  s.expected = open.readable;
  if (open.picked != wanted_ && !decisions_) limits |= StepLog::kIllegal;
}

}  // namespace duress::exhaustive::testing
