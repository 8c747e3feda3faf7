// SPDX-License-Identifier: Apache-2.0
//
// Executions by steps, for exploring all of them (src/exhaustive). A choice is made only where the order can
// matter: before a *step*, an operation on something that other strands can touch. All else (a thread is
// made, starts, is joined, goes on after a wait) happens at once, before the next choice, so every strand has
// come to its next step when one is chosen. A step that would wait is no candidate: who may go on is known
// before the choice, and no choice is wasted.
//
// What is a step's effect is read from the object right before it: nobody else runs in between.
#include "base/check.h"
#include "exhaustive/silent.h"
#include "sched/scheduler.h"
#include "trail/as_if.h"

namespace duress::sched {

using exhaustive::Mode;
using exhaustive::Step;
using exhaustive::StepLog;

namespace {

bool is_step(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kStart:
    case OpKind::kEnd:
    case OpKind::kFence:
    case OpKind::kCreate:
    case OpKind::kJoin:
    case OpKind::kYield:
    case OpKind::kSleep:
    case OpKind::kSystem:
      return false;
    default:
      return true;
  }
}

/// Strands that only yield go round so often when nothing else can happen.
constexpr u64 kMostIdle = 1000;

u64 value_at(uptr object, u32 size) {
  u64 value = 0;
  if (size <= 8) __builtin_memcpy(&value, reinterpret_cast<const void*>(object), size);
  return value;
}

}  // namespace

void Scheduler::name_strand(Strand* s) {
  s->id = running_ ? log_->strand_of(running_->id, ++running_->children) : 0;
  s->path = running_ ? trail::path_of(running_->path, running_->children) : 0;
}

void Scheduler::write_after(const Strand* s, const Strand* other) {
  if (s == other) return;
  if (Step* step = log_->add()) {
    step->flags = Step::kAfter;
    step->strand = static_cast<u8>(s->id);
    step->other = static_cast<u8>(other->id);
    step->touches = step->value = 0;
    step->choices = 0;
  }
  // What a strand's clock shows must follow from what came before it.
  Strand* later = const_cast<Strand*>(s);
  if (later->ends.time < other->ends.time) later->ends.time = other->ends.time;
}

/// The strands that wait there, a bit each.
u64 Scheduler::waiting_in(uptr queue) {
  u64 all = 0;
  Object* o = find_object(queue);
  for (Strand* s = o ? o->first : nullptr; s; s = s->next_in_queue) all |= u64{1} << s->id;
  return all;
}

/// Whom a signal wakes was decided when it was chosen, because it is a part of the step.
Strand* Scheduler::choose_waiter(const Object& o) {
  for (Strand* s = o.first; s; s = s->next_in_queue) {
    if (s == to_wake_) return s;
  }
  log_->limits |= StepLog::kFutex;
  return o.first;
}

bool Scheduler::can_step(const Strand& s) {
  const Operation& operation = s.next;
  // Under a memory model who waits is not woken: what it could read then is another execution.
  if (DURESS_UNLIKELY(s.spin.awaits) && (weak_ || !sees_change(s))) return false;
  switch (operation.kind) {
    case OpKind::kAcquire:
    case OpKind::kReadLock:
      return exhaustive::enabled(operation.kind, surroundings_.state(operation));
    case OpKind::kLock:
      return operation.size == 0 || exhaustive::enabled(operation.kind, surroundings_.state(operation));
    default:
      return true;
  }
}

/// What the strand is about to do, as things are now.
void Scheduler::describe(const Strand* s, Step* step) {
  describe_operation(s, step);
  if (DURESS_LIKELY(!s->spin.awaits)) return;
  step->flags |= Step::kAwaits;
  if (weak_) step->flags |= Step::kHasStoreAge;
  step->other = static_cast<u8>(s->spin.look_count - s->spin.first);
  for (u32 i = s->spin.first; i < s->spin.look_count; ++i) {
    const Spin::Look& look = s->spin.looks[i];
    exhaustive::Touch touch = {look.object, 0, look.size, Mode::kRead};
    bool known = false;
    for (u32 t = 0; t < step->touches; ++t) known |= exhaustive::overlap(step->touch[t], touch);
    if (known) continue;
    bool lock = look.size == 0;
    touch.before =
        lock ? (holder_of(look.object) ? exhaustive::kWriter : 0) : value_at(look.object, look.size);
    step->add(look.object, lock ? 1 : look.size, Mode::kRead, touch.before);
  }
}

void Scheduler::describe_operation(const Strand* s, Step* step) {
  const Operation& operation = s->next;
  step->kind = operation.kind;
  step->flags = 0;
  step->strand = static_cast<u8>(s->id);
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
    case OpKind::kLock:
    case OpKind::kTryLock:
    case OpKind::kUnlock:
    case OpKind::kReadLock:
    case OpKind::kTryReadLock: {
      u64 state = operation.size                ? surroundings_.state(operation)
                  : holder_of(operation.object) ? exhaustive::kWriter
                                                : 0;
      step->add(operation.object, 1, Mode::kWrite, state);
      break;
    }
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
    case OpKind::kPost:
      step->add(operation.object, 1, Mode::kWrite, surroundings_.state(operation));
      break;
    case OpKind::kChoose:  // touches nothing
      step->choices = operation.detail;
      return;
    case OpKind::kWait:
      step->add(operation.object, s->ends.chosen == WaitEnd::kWoken ? 1 : 0, Mode::kWrite,
                waiting_in(operation.object));
      step->add(operation.detail, 1, Mode::kWrite, exhaustive::kWriter);
      return;
    case OpKind::kFutexWait: {
      u64 value = value_at(operation.object, 4);
      step->add(operation.object, 4, Mode::kRead, value);
      bool waits = value == operation.detail && s->ends.chosen == WaitEnd::kWoken;
      if (s->ends.chosen != WaitEnd::kWoken) step->flags |= Step::kEndsItself;
      step->add(operation.object ^ exhaustive::kWaiters, waits ? 1 : 0, Mode::kWrite,
                waiting_in(operation.object));
      return;
    }
    case OpKind::kSignal:
    case OpKind::kFutexWake: {
      u64 waiting = waiting_in(operation.object);
      bool futex = operation.kind == OpKind::kFutexWake;
      step->add(futex ? operation.object ^ exhaustive::kWaiters : operation.object, 1, Mode::kWrite, waiting);
      if (futex && operation.detail != 1) break;  // all of them
      step->choices = waiting;
      break;
    }
    case OpKind::kBroadcast:
      step->add(operation.object, 1, Mode::kWrite, waiting_in(operation.object));
      break;
    default:
      step->add(operation.object, 1, Mode::kWrite, 0);
      break;
  }
  step->touch[0].mode = exhaustive::mode_of(*step, step->touch[0]);
}

/// Which of those who wait a signal wakes.
void Scheduler::choose_woken(const Object& o) {
  u32 at = 0;
  if (o.waiting > 1) {
    if (request_->strategy != raw(StrategyId::kExhaustive)) {
      at = strategy_->choose_value(ValueKind::kWakeOne, o.waiting);
    } else if (steps_done_ < request_->picks && request_->picked()[steps_done_].value) {
      u32 wanted = request_->picked()[steps_done_].value - 1u, i = 0;
      for (Strand* w = o.first; w; w = w->next_in_queue, ++i) at = w->id == wanted ? i : at;
    }
    note_choice(trail::ChoiceKind::kValue, at, at != 0);
  }
  to_wake_ = o.first;
  while (at-- > 0) to_wake_ = to_wake_->next_in_queue;
}

/// The strand is chosen and is about to do its step.
void Scheduler::write_step(Strand* s) {
  Step scratch;
  Step* step = log_->add();
  if (!step) step = &scratch;
  describe(s, step);
  note_look(s, *step);
  to_wake_ = nullptr;
  if (step->kind == OpKind::kChoose) {
    choose_value_of(s, step);
  } else if (step->choices) {
    choose_woken(object(s->next.object));
    step->value = static_cast<u8>(1 + to_wake_->id);
  }
  ++steps_done_;
}

/// The execution ends: what was not done.
void Scheduler::write_pending() {
  for (const Strand* s = all_; s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || !s->at_step) continue;
    if (Step* step = log_->add()) {
      describe(s, step);
      step->flags |= Step::kPending;
    }
  }
}

void Scheduler::point_by_steps(const Operation& operation) {
  Strand* s = running_;
  s->next = operation;
  step();
  if (is_step(operation)) {
    s->at_step = true;
    s->spin.yields = 0;
    look_for_spinning(s);
    switch_to(pick_by_steps());
  } else if (operation.kind == OpKind::kJoin && operation.object) {
    auto* other = reinterpret_cast<const Strand*>(operation.object);
    if (other->state == Strand::State::kEnded) write_after(s, other);
  }
  passed(*s);
}

Strand* Scheduler::pick_by_steps() {
  if (DURESS_UNLIKELY(candidates_room_ < capacity_)) {
    candidates_ = static_cast<Strand**>(arena_.allocate(capacity_ * sizeof(Strand*)));
    candidates_room_ = capacity_;
  }
  for (;;) {
    if (descriptor_waiters_) {
      log_->limits |= StepLog::kDescriptors;
      poll_descriptors(0);
    }
    u32 count = 0;
    Strand *lowest = nullptr, *current = nullptr, *resting = nullptr, *waits = nullptr, *leaving = nullptr;
    for (u32 i = 0; i < ready_count_; ++i) {
      Strand* s = ready_[i];
      if (DURESS_UNLIKELY(s->spin.leaves)) {
        leaving = s;
        continue;
      }
      if (DURESS_UNLIKELY(s->spin.rests)) {
        resting = s;
        continue;
      }
      if (!s->at_step) return s;  // not yet at its next step
      if (s->spin.awaits) waits = s;
      if (!can_step(*s)) continue;
      candidates_[count++] = s;
      if (s == running_) current = s;
      if (!lowest || s->number < lowest->number) lowest = s;
    }
    if (!count) {
      if (leaving) return leaving;
      if (explores_timeouts() && waits_although_it_could_time_out()) does_not_count();
      if (timed_ && fire_earliest()) continue;
      if (resting) {
        if (++idle_ > kMostIdle) stop(trail::Outcome::kLivelock);
        return resting;
      }
      if (weak_ && was_tried_in_vain()) log_->limits |= StepLog::kTried;
      if (weak_ && waits_for_what_is_there()) {
        log_->limits |= StepLog::kAwaitBlocked;
        record_->outcome = trail::Outcome::kEnded;
        surroundings_.stuck(trail::Outcome::kEnded);
      }
      if (!descriptor_waiters_) stop(waits ? trail::Outcome::kLivelock : trail::Outcome::kDeadlock);
      poll_descriptors(-1);
      continue;
    }
    Strand* next = candidates_[0];
    if (count > 1) {
      Situation situation = {record_->choices, steps_done_, reinterpret_cast<StrandView* const*>(candidates_),
                             count, current};
      next = static_cast<Strand*>(strategy_->choose_thread(situation));
      note_choice(trail::ChoiceKind::kThread, next->number, next != (current ? current : lowest));
      record_->switches += current && next != current;
    }
    next->at_step = false;
    write_step(next);
    return next;
  }
}

}  // namespace duress::sched
