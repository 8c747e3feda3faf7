// SPDX-License-Identifier: Apache-2.0
#include "sched/step_recorder.h"

#include "base/check.h"
#include "exhaustive/silent.h"

namespace duress::sched {

using exhaustive::Mode;
using exhaustive::Step;
using exhaustive::StepLog;

namespace {

/// 0 of memory that cannot be read, as behind a null pointer: the program is about to find out itself.
u64 value_at(uptr object, u32 size) {
  constexpr uptr kNothingBelow = 65536;  // the kernel maps nothing there (vm.mmap_min_addr)
  u64 value = 0;
  if (size <= 8 && object >= kNothingBelow)
    __builtin_memcpy(&value, reinterpret_cast<const void*>(object), size);
  return value;
}

}  // namespace

void StepRecorder::start(bool weak) {
  DURESS_CHECK(log_ != nullptr);
  weak_ = weak;
  steps_ = 0;
  log_->count = log_->limits = 0;
}

void StepRecorder::write_after(Strand& s, const Strand& other) {
  if (&s == &other) return;
  if (Step* step = log_->add()) {
    step->kind = OpKind::kStart;
    step->flags = Step::kAfter;
    step->strand = static_cast<u8>(s.id);
    step->other = static_cast<u8>(other.id);
    step->touches = step->value = 0;
    step->expected = step->choices = 0;
  }
  // What a strand's clock shows must follow from what came before it.
  s.outcomes.advance_to(other.outcomes.time);
}

void StepRecorder::write_step(Strand& s) {
  Step scratch;
  Step* step = log_->add();
  if (!step) step = &scratch;
  describe(s, step);
  spins_.performed(s.spin, *step);
  to_wake_ = nullptr;
  if (step->kind == OpKind::kChoose) {
    choose_wait_end(s, step);
  } else if (step->choices) {
    choose_waiter(queues_.get(s.next.object));
    step->value = static_cast<u8>(1 + to_wake_->id);
  }
  ++steps_;
}

void StepRecorder::write_pending(const Strand* strands) {
  for (const Strand* s = strands; s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || !s->at_step) continue;
    if (Step* step = log_->add()) {
      describe(*s, step);
      step->flags |= Step::kPending;
    }
  }
}

/// What the strand is about to do, in the present state.
void StepRecorder::describe(const Strand& s, Step* step) const {
  describe_operation(s, step);
  if (DURESS_LIKELY(!s.spin.awaits)) return;
  step->flags |= Step::kAwaits;
  if (weak_) step->flags |= Step::kHasStoreAge;
  step->other = static_cast<u8>(s.spin.read_count - s.spin.first);
  for (u32 i = s.spin.first; i < s.spin.read_count; ++i) {
    const SpinState::Read& read = s.spin.reads[i];
    exhaustive::Touch touch = {read.object, 0, read.size, Mode::kRead};
    bool known = false;
    for (u32 t = 0; t < step->touches; ++t) known |= exhaustive::overlap(step->touch[t], touch);
    if (known) continue;
    bool lock = read.size == 0;
    step->add(read.object, lock ? 1 : read.size, Mode::kRead,
              lock ? lock_state(read.object) : value_at(read.object, read.size));
  }
}

void StepRecorder::describe_operation(const Strand& s, Step* step) const {
  const Operation& operation = s.next;
  step->kind = operation.kind;
  step->flags = 0;
  step->strand = static_cast<u8>(s.id);
  step->other = step->touches = step->value = 0;
  step->expected = operation.detail;
  step->choices = 0;
  switch (operation.kind) {
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicWrite:
    case OpKind::kAtomicRmw:
      if (operation.compares)
        step->flags = operation.compares == 1 ? Step::kCompares : exhaustive::kExchanges;
      if (weak_ && operation.kind >= OpKind::kAtomicRead) step->flags |= Step::kHasStoreAge;
      step->add(operation.object, operation.size, Mode::kWrite, value_at(operation.object, operation.size));
      break;
    case OpKind::kFree:
      step->add(operation.object, operation.size, Mode::kWrite, 0);
      break;
    case OpKind::kLock:
    case OpKind::kTryLock:
    case OpKind::kUnlock:
    case OpKind::kReadLock:
    case OpKind::kTryReadLock:
      step->add(operation.object, 1, Mode::kWrite,
                operation.size ? callbacks_.state(operation) : lock_state(operation.object));
      break;
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
    case OpKind::kPost:
      step->add(operation.object, 1, Mode::kWrite, callbacks_.state(operation));
      break;
    case OpKind::kChoose:  // touches nothing
      step->choices = operation.detail;
      return;
    case OpKind::kWait:
      step->add(operation.object, s.outcomes.chosen == WaitEnd::kWoken ? 1 : 0, Mode::kWrite,
                queues_.waiting_in(operation.object));
      step->add(operation.detail, 1, Mode::kWrite, exhaustive::kWriter);
      return;
    case OpKind::kFutexWait: {
      u64 value = value_at(operation.object, 4);
      step->add(operation.object, 4, Mode::kRead, value);
      bool waits = value == operation.detail && s.outcomes.chosen == WaitEnd::kWoken;
      if (s.outcomes.chosen != WaitEnd::kWoken) step->flags |= Step::kEndsItself;
      step->add(operation.object ^ exhaustive::kWaiters, waits ? 1 : 0, Mode::kWrite,
                queues_.waiting_in(operation.object));
      return;
    }
    case OpKind::kSignal:
    case OpKind::kFutexWake: {
      u64 waiting = queues_.waiting_in(operation.object);
      bool futex = operation.kind == OpKind::kFutexWake;
      step->add(futex ? operation.object ^ exhaustive::kWaiters : operation.object, 1, Mode::kWrite, waiting);
      if (futex && operation.detail != 1) break;  // all of them
      step->choices = waiting;
      break;
    }
    case OpKind::kBroadcast:
      step->add(operation.object, 1, Mode::kWrite, queues_.waiting_in(operation.object));
      break;
    default:
      step->add(operation.object, 1, Mode::kWrite, 0);
      break;
  }
  step->touch[0].mode = exhaustive::mode_of(*step, step->touch[0]);
}

/// Which of those that wait there a signal wakes.
void StepRecorder::choose_waiter(const WaitQueues::Object& o) {
  u32 at = 0;
  if (o.waiting > 1) {
    if (!choices_.is_exhaustive()) {
      at = choices_.strategy().choose_value(ValueKind::kWakeOne, o.waiting);
    } else if (u32 wanted = choices_.wanted_at(steps_)) {
      u32 i = 0;
      for (Strand* w = o.first; w; w = w->wait.next_in_queue, ++i) at = w->id == wanted - 1 ? i : at;
    }
    choices_.note(trail::ChoiceKind::kValue, at, at != 0);
  }
  to_wake_ = o.first;
  while (at-- > 0) to_wake_ = to_wake_->wait.next_in_queue;
}

Strand* StepRecorder::waiter_to_wake(const WaitQueues::Object& o) {
  for (Strand* s = o.first; s; s = s->wait.next_in_queue) {
    if (s == to_wake_) return s;
  }
  limit(StepLog::kFutex);
  return o.first;
}

/// The strand performs its kChoose.
void StepRecorder::choose_wait_end(Strand& s, Step* step) {
  u32 count = static_cast<u32>(__builtin_popcountll(step->choices)), at = 0;
  if (!choices_.is_exhaustive()) {
    at = choices_.strategy().choose_value(ValueKind::kSpurious, count);
  } else if (u32 wanted = choices_.wanted_at(steps_)) {
    u64 below = (u64{1} << (wanted - 1)) - 1;
    at = static_cast<u32>(__builtin_popcountll(step->choices & below));
  }
  DURESS_CHECK(at < count);
  choices_.note(trail::ChoiceKind::kValue, at, at != 0);
  u64 rest = step->choices;
  for (; at > 0; --at) rest &= rest - 1;
  auto end = static_cast<u8>(__builtin_ctzll(rest));
  step->value = static_cast<u8>(1 + end);
  s.outcomes.chosen = static_cast<WaitEnd>(end);
}

}  // namespace duress::sched
