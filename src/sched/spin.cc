// SPDX-License-Identifier: Apache-2.0
//
// Loops that wait, in executions by steps. A strand that comes to the same step again, with the same
// registers and the same stack, having changed nothing in between, would go round for ever unless another
// strand writes something that it looked at. So there it waits for exactly that, and the iteration is
// explored once. Loops that count their tries are not of this kind: their local state differs each time, and
// every try is explored.
//
// The local state costs microseconds, so it is looked at only where a strand was seen to come again. Such a
// place is learned; the exploration then begins anew, because what a strand waits for must not depend on what
// was learned meanwhile.
#include "base/check.h"
#include "exhaustive/silent.h"
#include "sched/scheduler.h"

namespace duress::sched {

using exhaustive::Mode;
using exhaustive::Step;
using exhaustive::StepLog;

namespace {

/// A loop that changes its local state each time, and nothing else, is given up after so many rounds.
constexpr u32 kMostRepeats = 200;
constexpr u32 kMostYields = 2;

u64 place_of(const Operation& operation) {
  return mix(operation.place ^ raw(operation.kind));
}

}  // namespace

/// The strand comes to a step.
void Scheduler::look_for_spinning(Strand* s) {
  Spin& spin = s->spin;
  spin.awaits = false;
  if (spin.wrote) spin.forget();
  u64 place = place_of(s->next), key = mix(place ^ s->next.object);
  // A replay need not be fast, and does not know what was learned.
  bool known = request_->strategy != raw(StrategyId::kExhaustive);
  for (u32 i = 0; i < log_->spins; ++i) known |= log_->spin[i] == place;
  Spin::Visit* visit = nullptr;
  for (u32 i = 0; i < spin.visit_count; ++i) {
    if (spin.visits[i].key == key) visit = &spin.visits[i];
  }
  if (!visit) {
    if (spin.visit_count == Spin::kMostVisits) spin.forget();
    spin.visits[spin.visit_count++] = {key, known ? surroundings_.local_state(*s) : 0, spin.look_count, 0};
    return;
  }
  ++visit->repeats;
  if (!known) {
    if (log_->spins < StepLog::kMostSpins) log_->spin[log_->spins++] = place;
    visit->looks = spin.look_count;
    return;
  }
  u64 state = surroundings_.local_state(*s);
  bool same = state != 0 && state == visit->state && spin.locked == 0;
  if (!same && visit->repeats > kMostRepeats) {
    log_->limits |= StepLog::kSpinning;
    same = true;
  }
  if (same) await_looks(s, visit->looks);
  visit->state = state;
  visit->looks = spin.look_count;
}

/// It waits until another strand writes something that it looked at since then.
void Scheduler::await_looks(Strand* s, u32 first) {
  Spin& spin = s->spin;
  if (first >= spin.look_count) return;  // it looked at too many things to remember, or at none
  u32 distinct = 0;
  for (u32 i = first; i < spin.look_count; ++i) {
    bool again = false;
    for (u32 k = first; k < i; ++k) again |= spin.looks[k].object == spin.looks[i].object;
    distinct += !again;
  }
  if (distinct >= Step::kMostTouches) {
    log_->limits |= StepLog::kSpinning;
    return;
  }
  spin.first = first;
  spin.awaits = true;
}

/// The strand does a step.
void Scheduler::note_look(Strand* s, const Step& step) {
  Spin& spin = s->spin;
  for (Strand* other = all_; other; other = other->next_strand) other->spin.rests = false;
  u32 size = 0;
  switch (step.kind) {
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicWrite:
    case OpKind::kAtomicRmw:  // those that change something forget() when they do
      size = step.touch[0].size;
      break;
    case OpKind::kLock:
    case OpKind::kReadLock:
      ++spin.locked;
      break;
    case OpKind::kTryLock:
    case OpKind::kTryReadLock:
      spin.locked += step.touch[0].mode == Mode::kWrite;
      break;
    case OpKind::kUnlock:
      if (spin.locked) --spin.locked;
      break;
    case OpKind::kOnce:
    case OpKind::kTryAcquire:
      if (step.touch[0].mode == Mode::kRead) break;
      [[fallthrough]];
    default:
      spin.forget();
      return;
  }
  u64 object = step.touch[0].object;
  if (spin.look_count == Spin::kMostLooks) {
    spin.forget();
    return;
  }
  spin.looks[spin.look_count++] = {object, size, log_->count};
}

/// Whether another strand has written something that it waits for, since it looked at it in this round.
bool Scheduler::sees_change(const Strand& s) const {
  const Spin& spin = s.spin;
  for (u32 i = spin.first; i < spin.look_count; ++i) {
    exhaustive::Touch look = {spin.looks[i].object, 0, spin.looks[i].size ? spin.looks[i].size : 1,
                              Mode::kRead};
    for (u32 e = spin.looks[i].at; e < log_->count; ++e) {
      const Step& step = log_->steps[e];
      if (step.is(Step::kAfter) || step.strand == s.id || exhaustive::silent(step)) continue;
      for (u32 t = 0; t < step.touches; ++t) {
        if (exhaustive::conflict(step.touch[t], look)) return true;
      }
    }
  }
  return false;
}

/// Under a memory model: whether a strand waits although there is something newer than what it looked at. In
/// time it would see that.
bool Scheduler::waits_for_what_is_there() const {
  for (const Strand* s = all_; s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || !s->spin.awaits) continue;
    for (u32 i = s->spin.first; i < s->spin.look_count; ++i) {
      const Spin::Look& look = s->spin.looks[i];
      exhaustive::Touch touch = {look.object, 0, look.size ? look.size : 1, Mode::kRead};
      // `at` is the entry after the look itself.
      if (look.at > 0 && log_->steps[look.at - 1].value != 0) return true;
      for (u32 e = look.at; e < log_->count; ++e) {
        const Step& step = log_->steps[e];
        if (step.is(Step::kAfter) || step.strand == s->id || step.value != 0 || step.touches == 0) continue;
        if (exhaustive::conflict(step.touch[0], touch)) return true;
      }
    }
  }
  return false;
}

/// Under a memory model: whether a round in vain of a strand that waits was seen, because it took a lock that
/// another strand tried to take meanwhile. That the round is explored once is not enough then.
bool Scheduler::was_tried_in_vain() const {
  for (const Strand* s = all_; s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || !s->spin.awaits) continue;
    u32 first = s->spin.looks[s->spin.first].at;
    for (u32 i = s->spin.first; i < s->spin.look_count; ++i) {
      const Spin::Look& look = s->spin.looks[i];
      if (look.size != 0 || look.at == 0 || log_->steps[look.at - 1].touch[0].mode != Mode::kWrite) continue;
      for (u32 e = first > 0 ? first - 1 : 0; e < log_->count; ++e) {
        const Step& step = log_->steps[e];
        bool tries = step.kind == OpKind::kTryLock || step.kind == OpKind::kTryReadLock;
        if (step.is(Step::kAfter) || step.strand == s->id || !tries) continue;
        if (step.touch[0].object == look.object && step.touch[0].mode == Mode::kRead) return true;
      }
    }
  }
  return false;
}

/// A strand that yields again and again, and comes to no step in between, waits for plain memory: lets the
/// others do something first.
void Scheduler::rest(Strand* s) {
  if (++s->spin.yields <= kMostYields) return;
  s->at_step = false;
  s->spin.rests = true;
  switch_to(pick_by_steps());
  s->spin.rests = false;
}

void Scheduler::leave_last() {
  if (!by_steps_ || alive_ == 1) return;
  Strand* s = running_;
  s->at_step = false;
  s->spin.leaves = true;
  switch_to(pick_by_steps());
  s->spin.leaves = false;
}

}  // namespace duress::sched
