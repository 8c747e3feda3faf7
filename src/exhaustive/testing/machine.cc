// SPDX-License-Identifier: Apache-2.0
//
// Which step comes next; what it does is in machine_effects.cc.
#include "exhaustive/testing/machine.h"

namespace duress::exhaustive::testing {
namespace {

bool waits(const Instruction& i) {
  return i.op == Op::kWait || i.op == Op::kTimedWait;
}

u64 value_in(const std::map<u64, u64>& map, u64 key) {
  auto it = map.find(key);
  return it == map.end() ? 0 : it->second;
}

struct Touched {
  OpKind kind = OpKind::kStart;
  u64 object = 0;
  u32 size = 1;
};

/// What an instruction is as a step, and the object it is about.
Touched touched_by(const Instruction& i, bool second) {
  switch (i.op) {
    case Op::kLoad:
    case Op::kAwait:
      return {OpKind::kAtomicRead, variable(i.a), 8};
    case Op::kAwaitEither:
      return {OpKind::kAtomicRead, variable(second ? i.c : i.a), 8};
    case Op::kStore:
      return {OpKind::kAtomicWrite, variable(i.a), 8};
    case Op::kAdd:
    case Op::kCas:
      return {OpKind::kAtomicRmw, variable(i.a), 8};
    case Op::kLock:
      return {OpKind::kLock, mutex(i.a)};
    case Op::kUnlock:
      return {OpKind::kUnlock, mutex(i.a)};
    case Op::kTry:
      return {OpKind::kTryLock, mutex(i.a)};
    case Op::kAcquire:
      return {OpKind::kAcquire, semaphore(i.a)};
    case Op::kTryAcquire:
      return {OpKind::kTryAcquire, semaphore(i.a)};
    case Op::kPost:
      return {OpKind::kPost, semaphore(i.a)};
    case Op::kWait:
    case Op::kTimedWait:
      return {OpKind::kWait, condition(i.a)};
    case Op::kSignal:
      return {OpKind::kSignal, condition(i.a)};
    case Op::kBroadcast:
      return {OpKind::kBroadcast, condition(i.a)};
    case Op::kArrive:
      return {OpKind::kBarrier, barrier(i.a)};
    default:
      return {};
  }
}

}  // namespace

Machine::Machine(const Program& program) : program_(&program), threads_(program.threads.size()) {
  for (size_t i = 0; i < threads_.size(); ++i) threads_[i].started = program.started[i];
  for (size_t i = 0; i < program.semaphores.size(); ++i) memory_[semaphore(int(i))] = program.semaphores[i];
  settle();
}

std::vector<u32> Machine::enabled_threads() const {
  std::vector<u32> result;
  for (u32 t = 0; t < threads_.size(); ++t) {
    if (at_step(t) && can_go(t)) result.push_back(t);
  }
  return result;
}

u64 Machine::choices(u32 t) const {
  const Instruction& i = next(t);
  if (chooses(t)) return ends(t);
  return i.op == Op::kSignal ? state(condition(i.a)) : 0;
}

bool Machine::counts() const {
  for (const Thread& h : threads_) {
    if (h.waiting && h.could_time_out) return false;
  }
  return true;
}

void Machine::run(u32 t, u32 value) {
  Step step = describe(t);
  if (step.kind == OpKind::kSignal || step.kind == OpKind::kChoose) step.value = static_cast<u8>(value);
  steps_.push_back(step);
  perform(t, step);
  settle();
}

std::vector<Step> Machine::history() const {
  std::vector<Step> all = steps_;
  for (u32 t = 0; t < threads_.size(); ++t) {
    if (!at_step(t)) continue;
    Step step = describe(t);
    step.flags |= Step::kPending;
    all.push_back(step);
  }
  return all;
}

u64 Machine::state(u64 object) const {
  return value_in(memory_, object);
}

u64 Machine::version(u64 object) const {
  return value_in(versions_, object);
}

u64 Machine::ends(u32 t) const {
  const Thread& h = threads_[t];
  auto less = [&](WaitEnd end, int most) {
    auto it = h.in_a_row[int(end)].find(h.pc);
    return (it == h.in_a_row[int(end)].end() ? 0 : it->second) < most;
  };
  u64 all = 1;
  if (less(WaitEnd::kSpurious, program_->spurious)) all |= 2;
  if (next(t).op == Op::kTimedWait && less(WaitEnd::kTimeout, program_->timeouts)) all |= 4;
  return all;
}

bool Machine::chooses(u32 t) const {
  const Thread& h = threads_[t];
  return waits(next(t)) && !h.relocks && !h.chosen && (ends(t) & (ends(t) - 1));
}

bool Machine::can_go(u32 t) const {
  const Thread& h = threads_[t];
  const Instruction& i = next(t);
  if (h.relocks) return state(mutex(i.b)) == 0;
  switch (i.op) {
    case Op::kLock:
      return state(mutex(i.a)) == 0;
    case Op::kAcquire:
      return state(semaphore(i.a)) != 0;
    case Op::kAwait:
    case Op::kAwaitEither:
      if (!h.again) return true;
      for (auto [object, v] : h.seen) {
        if (version(object) != v) return true;
      }
      return false;
    default:
      return true;
  }
}

Step Machine::describe(u32 t) const {
  const Thread& h = threads_[t];
  const Instruction& i = next(t);
  Step s;
  s.strand = static_cast<u8>(t);
  auto touch = [&](u64 object, u32 size = 1) { s.add(object, size, Mode::kWrite, state(object)); };
  if (h.relocks) {
    s.kind = OpKind::kLock;
    touch(mutex(i.b));
    return s;
  }
  if (chooses(t)) {
    s.kind = OpKind::kChoose;
    s.choices = ends(t);
    return s;
  }
  Touched touched = touched_by(i, h.second);
  s.kind = touched.kind;
  if (s.kind == OpKind::kWait) {
    touch(touched.object, h.end == WaitEnd::kWoken ? 1 : 0);
    touch(mutex(i.b));
    return s;
  }
  touch(touched.object, touched.size);
  if (i.op == Op::kCas) {
    s.flags |= Step::kCompares;
    s.expected = u64(i.b);
  } else if (i.op == Op::kSignal) {
    s.choices = state(condition(i.a));
  } else if (h.again && i.op == Op::kAwait) {
    s.flags |= Step::kAwaits;
    s.other = 1;
  } else if (h.again && i.op == Op::kAwaitEither) {
    s.flags |= Step::kAwaits;
    s.other = 2;
    s.add(variable(i.c), 8, Mode::kRead, state(variable(i.c)));
  }
  s.touch[0].mode = mode_of(s, s.touch[0]);
  return s;
}

}  // namespace duress::exhaustive::testing
