// SPDX-License-Identifier: Apache-2.0
//
// What a step of the machine does, and what comes without a step: creating, joining, skipping.
#include "exhaustive/testing/machine.h"

namespace duress::exhaustive::testing {

void Machine::set(u64 object, u64 value) {
  memory_[object] = value;
  ++versions_[object];
}

void Machine::after(u32 t, u32 other) {
  Step s;
  s.flags = Step::kAfter;
  s.strand = static_cast<u8>(t);
  s.other = static_cast<u8>(other);
  steps_.push_back(s);
}

void Machine::wake(u32 waker, u32 t) {
  after(t, waker);
  threads_[t].waiting = false;
}

void Machine::wake_all(u32 waker, u64 waiting) {
  for (u32 t = 0; t < threads_.size(); ++t) {
    if (waiting >> t & 1) wake(waker, t);
  }
}

void Machine::perform(u32 t, const Step& step) {
  Thread& h = threads_[t];
  if (h.relocks) {
    relock(t);
  } else if (step.kind == OpKind::kChoose) {
    h.chosen = true;
    h.end = WaitEnd(step.value - 1);
    h.could_time_out = step.choices & 4;
  } else {
    h.pc += execute(t, step);
  }
}

void Machine::relock(u32 t) {
  Thread& h = threads_[t];
  set(mutex(next(t).b), kWriter);
  h.relocks = h.chosen = h.could_time_out = false;
  h.read = u64(h.end);
  if (h.end == WaitEnd::kWoken) {
    for (auto& count : h.in_a_row) count.erase(h.pc);
  } else {
    ++h.in_a_row[int(h.end)][h.pc];
  }
  h.end = WaitEnd::kWoken;
  ++h.pc;
}

size_t Machine::execute(u32 t, const Step& step) {
  const Instruction& i = next(t);
  u64 before = step.touch[0].before;
  switch (i.op) {
    case Op::kWait:
    case Op::kTimedWait:
      return wait(t, i, before);
    case Op::kSignal:
      if (step.value) {
        set(condition(i.a), before & ~(u64{1} << (step.value - 1)));
        wake(t, step.value - 1u);
      }
      return 1;
    case Op::kBroadcast:
      if (before) set(condition(i.a), 0);
      wake_all(t, before);
      return 1;
    case Op::kArrive:
      return arrive(t, i, before);
    case Op::kAwait:
    case Op::kAwaitEither:
      return await(threads_[t], i, before);
    case Op::kLoad:
    case Op::kStore:
    case Op::kAdd:
    case Op::kCas:
      return access(threads_[t], i, before);
    default:
      return lock_or_count(i, before);
  }
}

size_t Machine::access(Thread& h, const Instruction& i, u64 value) {
  if (i.op == Op::kStore) {
    set(variable(i.a), u64(i.b));
    return 1;
  }
  h.read = value;
  if (i.op == Op::kAdd) set(variable(i.a), value + u64(i.b));
  if (i.op == Op::kCas && value == u64(i.b)) set(variable(i.a), u64(i.c));
  return 1;
}

size_t Machine::lock_or_count(const Instruction& i, u64 value) {
  size_t after_failure = 1 + size_t(i.b);
  switch (i.op) {
    case Op::kTry:
      if (value != 0) return after_failure;
      [[fallthrough]];
    case Op::kLock:
      set(mutex(i.a), kWriter);
      break;
    case Op::kUnlock:
      set(mutex(i.a), 0);
      break;
    case Op::kTryAcquire:
      if (value == 0) return after_failure;
      [[fallthrough]];
    case Op::kAcquire:
      set(semaphore(i.a), value - 1);
      break;
    case Op::kPost:
      set(semaphore(i.a), value + 1);
      break;
    default:
      break;
  }
  return 1;
}

size_t Machine::wait(u32 t, const Instruction& i, u64 waiting) {
  Thread& h = threads_[t];
  set(mutex(i.b), 0);
  h.relocks = true;
  h.waiting = h.end == WaitEnd::kWoken;
  if (h.waiting) set(condition(i.a), waiting | u64{1} << t);
  return 0;
}

size_t Machine::arrive(u32 t, const Instruction& i, u64 arrived) {
  if (arrived + 1 < u64(i.b)) {
    set(barrier(i.a), arrived + 1);
    threads_[t].waiting = true;
    return 1;
  }
  set(barrier(i.a), 0);
  u64 waiting = 0;
  for (u32 w = 0; w < threads_.size(); ++w) {
    const Thread& h = threads_[w];
    if (h.waiting && h.pc > 0 && program_->threads[w][h.pc - 1].op == Op::kArrive) waiting |= u64{1} << w;
  }
  wake_all(t, waiting);
  return 1;
}

size_t Machine::await(Thread& h, const Instruction& i, u64 value) {
  u64 object = variable(h.second ? i.c : i.a);
  h.seen[object] = version(object);
  bool over = h.second ? value != 0 : value == u64(i.b);
  if (over) {
    h.seen.clear();
    h.again = h.second = false;
    return 1;
  }
  // The loop looks again once it has looked at everything.
  h.again = i.op == Op::kAwait || h.second;
  h.second = i.op == Op::kAwaitEither && !h.second;
  return 0;
}

void Machine::settle() {
  for (bool moved = true; moved;) {
    moved = false;
    for (u32 t = 0; t < threads_.size(); ++t) {
      Thread& h = threads_[t];
      if (!has_next(t) || h.relocks) continue;
      const Instruction& i = next(t);
      if (i.op == Op::kSkipIf) {
        h.pc += h.read == u64(i.a) ? 1 + size_t(i.b) : 1;  // b may be negative
      } else if (i.op == Op::kCreate) {
        threads_[size_t(i.a)].started = true;
        after(u32(i.a), t);
        ++h.pc;
      } else if (i.op == Op::kJoin && ended(u32(i.a))) {
        after(t, u32(i.a));
        ++h.pc;
      } else {
        continue;
      }
      moved = true;
    }
  }
}

}  // namespace duress::exhaustive::testing
