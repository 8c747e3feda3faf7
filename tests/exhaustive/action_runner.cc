// SPDX-License-Identifier: Apache-2.0
#include "action_runner.h"

#include <algorithm>

#include "exhaustive/step_log.h"

namespace duress::exhaustive::testing {

ActionRunner::ActionRunner(const Actions& program, Decider& decider)
    : program_(program),
      decider_(decider),
      memory_(program.threads.size(), 4),
      states_(program.counts),
      next_(program.threads.size()),
      relock_(program.threads.size(), kNone),
      waiting_(program.threads.size()),
      held_(program.threads.size()) {
  for (u32 t = 0; t < next_.size(); ++t) go_on(t);
}

void ActionRunner::run() {
  for (;;) {
    std::vector<u32> ready;
    for (u32 t = 0; t < next_.size(); ++t) {
      if (can_go(t)) ready.push_back(t);
    }
    if (ready.empty()) break;
    u32 t = decider_.thread(ready);
    if (std::find(ready.begin(), ready.end(), t) == ready.end()) {
      limits |= StepLog::kIllegal;
      return;
    }
    step(t);
  }
  for (u32 t = 0; t < next_.size(); ++t) {
    if (over(t)) continue;
    stuck = true;
    if (waiting_[t]) continue;
    Step s = describe(t);
    s.flags |= Step::kPending;
    steps.push_back(s);
  }
}

bool ActionRunner::can_go(u32 t) {
  if (over(t) || waiting_[t]) return false;
  Action now = mine(t);
  return !may_wait(now.kind) || enabled(now.kind, states_[now.object]);
}

/// Fences, and unlocks of what was not got, are no steps.
void ActionRunner::go_on(u32 t) {
  while (relock_[t] == kNone && next_[t] < program_.threads[t].size()) {
    const Action& now = program_.threads[t][next_[t]];
    if (now.kind == OpKind::kFence) {
      memory_.fence(t, now.atomic.order);
    } else if ((now.kind != OpKind::kUnlock && now.kind != OpKind::kWait) ||
               held_[t].count(now.kind == OpKind::kWait ? now.mutex : now.object)) {
      return;
    }
    ++next_[t];
  }
}

u32 ActionRunner::legal_index(std::optional<u32> index) {
  if (!index) limits |= StepLog::kIllegal;
  return index.value_or(0);
}

u32 ActionRunner::read(const memory::Legal& legal) {
  u64 bits = 0;
  for (u32 i = 0; i < legal.count; ++i) bits |= u64{1} << legal.values[i].age;
  return legal_index(index_of_age(legal, decider_.age(bits)));
}

u32 ActionRunner::place(u32, u32) {
  u64 legal = memory_.open().legal;
  return legal_index(index_of_age(legal, decider_.age(legal)));
}

Step ActionRunner::describe(u32 t) {
  Action now = mine(t);
  Step s;
  s.kind = now.kind;
  s.strand = static_cast<u8>(t);
  if (is_access(now.kind)) {
    s.flags = Step::kHasStoreAge;
    s.add(Rc11Memory::location(now.atomic.location), 8, Mode::kWrite, 0);
    if (now.kind == OpKind::kAtomicRead) s.touch[0].mode = Mode::kRead;
    return s;
  }
  s.add(Rc11Memory::primitive(now.object), 1, Mode::kWrite, states_[now.object]);
  if (now.kind == OpKind::kWait) s.add(Rc11Memory::primitive(now.mutex), 1, Mode::kWrite, kWriter);
  if (now.kind == OpKind::kSignal) s.choices = states_[now.object];
  s.touch[0].mode = mode_of(s, s.touch[0]);
  return s;
}

void ActionRunner::step(u32 t) {
  Action now = mine(t);
  Step s = describe(t);
  if (is_access(now.kind)) {
    access(t, now.atomic, s);
    steps.push_back(s);
  } else {
    bool wrote = s.touch[0].mode == Mode::kWrite;
    u64& state = states_[now.object];
    if (now.kind == OpKind::kSignal && state) {
      u32 woken = decider_.woken(state);
      s.value = static_cast<u8>(1 + woken);
      steps.push_back(s);
      wake(woken, t, state);
    } else {
      steps.push_back(s);
      if (wrote) primitive(t, now, state);
    }
  }
  if (relock_[t] != kNone && now.kind == OpKind::kLock) {
    relock_[t] = kNone;
  } else {
    ++next_[t];
  }
  go_on(t);
}

void ActionRunner::wake(u32 woken, u32 by, u64& state) {
  state &= ~(u64{1} << woken);
  waiting_[woken] = false;
  Step after;
  after.flags = Step::kAfter;
  after.strand = static_cast<u8>(woken);
  after.other = static_cast<u8>(by);
  steps.push_back(after);
}

void ActionRunner::primitive(u32 t, const Action& now, u64& state) {
  switch (now.kind) {
    case OpKind::kLock:
    case OpKind::kTryLock:
      state = kWriter;
      held_[t].insert(now.object);
      memory_.acquire(t, now.object);
      break;
    case OpKind::kReadLock:
    case OpKind::kTryReadLock:
      ++state;
      held_[t].insert(now.object);
      memory_.acquire(t, now.object);
      break;
    case OpKind::kUnlock:
      state = state == kWriter ? 0 : state - 1;
      held_[t].erase(now.object);
      memory_.release(t, now.object);
      break;
    case OpKind::kPost:
      ++state;
      memory_.release(t, now.object);
      break;
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
      --state;
      memory_.acquire(t, now.object);
      break;
    case OpKind::kWait:
      state |= u64{1} << t;
      waiting_[t] = true;
      relock_[t] = now.mutex;
      states_[now.mutex] = 0;
      held_[t].erase(now.mutex);
      memory_.release(t, now.mutex);
      break;
    case OpKind::kBroadcast:
      for (u64 rest = state; rest; rest &= rest - 1) wake(static_cast<u32>(__builtin_ctzll(rest)), t, state);
      break;
    default:
      break;
  }
}

void ActionRunner::access(u32 t, const Instruction& now, Step& s) {
  bool wrote = memory_.access(t, now, *this);
  s.touch[0].mode = wrote ? Mode::kWrite : Mode::kRead;
  s.value = static_cast<u8>(memory_.open().picked);
  s.choices = memory_.open().legal;
}

}  // namespace duress::exhaustive::testing
