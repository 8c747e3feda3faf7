// SPDX-License-Identifier: Apache-2.0
//
// How waits end, in executions by steps. A wait on a condition may end with no signal (a spurious wake-up),
// a wait with a deadline may end before anybody else has done anything. Where a request asks for it, that is
// a choice like others; without a bound a loop around the wait could go round for ever, so there is one: so
// many times in a row, of a strand at a place, until it is woken by a signal.
//
// A lock that may time out needs no choice: it is tried, and when is what the schedule decides anyway.
//
// A clock must show the same in all executions of a class. So a strand has its own: it goes on with what the
// strand does, and is never behind whom it was woken by.
#include "base/check.h"
#include "sched/scheduler.h"

namespace duress::sched {

using exhaustive::Step;
using exhaustive::StepLog;

/// Null: there are too many places, and at this one nothing ends by itself.
Ends::Place* Scheduler::place_of_ends(Strand& s, uptr place) const {
  for (Ends::Place& entry : s.ends.places) {
    if (entry.place == 0) entry.place = place;
    if (entry.place == place) return &entry;
  }
  return nullptr;
}

/// A bit for each.
u64 Scheduler::ends_of(const Strand& s, uptr place, bool may_be_spurious, bool timed) const {
  u64 ends = u64{1} << raw(WaitEnd::kWoken);
  const Ends::Place* known = place_of_ends(const_cast<Strand&>(s), place);
  if (!known) return ends;
  if (may_be_spurious && known->spurious < request_->spurious) ends |= u64{1} << raw(WaitEnd::kSpurious);
  if (timed && known->timeouts < request_->timeouts) ends |= u64{1} << raw(WaitEnd::kTimeout);
  return ends;
}

WaitEnd Scheduler::choose_end(const Operation& wait, bool may_be_spurious, u64 deadline) {
  Strand& s = *running_;
  s.ends.chosen = WaitEnd::kWoken;
  s.ends.chose = s.ends.could_time_out = false;
  if (!by_steps_ || weak_ || (!request_->spurious && !request_->timeouts)) return WaitEnd::kWoken;
  u64 ends = ends_of(s, wait.place, may_be_spurious, deadline != kNever);
  bool may_time_out = ends >> raw(WaitEnd::kTimeout) & 1;
  if (may_time_out && deadline <= s.ends.time) {  // it is over before it began
    s.ends.chosen = WaitEnd::kTimeout;
  } else if (ends & (ends - 1)) {
    point_by_steps({OpKind::kChoose, 0, 0, 0, wait.place, 0, 0, ends});
    s.ends.chose = true;
    s.ends.could_time_out = may_time_out && s.ends.chosen == WaitEnd::kWoken;
  }
  return s.ends.chosen;
}

/// The strand is chosen and does its kChoose.
void Scheduler::choose_value_of(Strand* s, Step* step) {
  u32 count = static_cast<u32>(__builtin_popcountll(step->choices)), at = 0;
  u64 rest = step->choices;
  if (request_->strategy != raw(StrategyId::kExhaustive)) {
    at = strategy_->choose_value(ValueKind::kSpurious, count);
  } else if (steps_done_ < request_->picks && request_->picked()[steps_done_].value) {
    u64 below = (u64{1} << (request_->picked()[steps_done_].value - 1u)) - 1;
    at = static_cast<u32>(__builtin_popcountll(step->choices & below));
  }
  DURESS_CHECK(at < count);
  note_choice(trail::ChoiceKind::kValue, at, at != 0);
  for (; at > 0; --at) rest &= rest - 1;
  auto end = static_cast<u8>(__builtin_ctzll(rest));
  step->value = static_cast<u8>(1 + end);
  s->ends.chosen = static_cast<WaitEnd>(end);
}

void Scheduler::wait_ended(uptr place, WaitEnd end, u64 deadline) {
  Strand& s = *running_;
  s.ends.by_itself = end != WaitEnd::kWoken;
  if (s.ends.by_itself && request_->trace) {
    s.next = {end == WaitEnd::kTimeout ? OpKind::kTimeout : OpKind::kSpurious, 0, 0, 0, place};
    trace(s);
  }
  if (!by_steps_) return;
  s.ends.chosen = WaitEnd::kWoken;
  s.ends.chose = s.ends.could_time_out = false;
  if (end == WaitEnd::kTimeout && deadline < kNever - 1 && s.ends.time < deadline) s.ends.time = deadline;
  if (end == WaitEnd::kWoken) s.ends.clock_reads = 0;
  Ends::Place* known = place_of_ends(s, place);
  if (!known) return;
  if (end == WaitEnd::kWoken) known->spurious = known->timeouts = 0;
  if (end == WaitEnd::kSpurious) ++known->spurious;
  if (end == WaitEnd::kTimeout) ++known->timeouts;
}

bool Scheduler::tries_instead(uptr place, u64 deadline) const {
  if (deadline == kNever || !explores_timeouts() || weak_) return false;
  return ends_of(*running_, place, false, true) >> raw(WaitEnd::kTimeout) & 1;
}

void Scheduler::tried(uptr place, u64 deadline, bool in_time) {
  wait_ended(place, in_time ? WaitEnd::kWoken : WaitEnd::kTimeout, deadline);
}

bool Scheduler::waits_although_it_could_time_out() const {
  for (const Strand* s = all_; s; s = s->next_strand) {
    if (s->state == Strand::State::kBlocked && s->queued && s->ends.could_time_out) return true;
  }
  return false;
}

void Scheduler::chose_in_vain() {
  if (running_->ends.chose) does_not_count();
}

/// Ends the execution; what it did is learned all the same.
void Scheduler::does_not_count() {
  log_->limits |= StepLog::kAwaitBlocked;
  finish();
  record_->outcome = trail::Outcome::kEnded;
  surroundings_.stuck(trail::Outcome::kEnded);
  exit_process(125);
}

u64 Scheduler::read_own_clock() {
  // As read_clock(): a loop that waits for a time ends after a few dozen looks.
  Ends& ends = running_->ends;
  ends.time += u64{1000} << (ends.clock_reads < 40 ? ends.clock_reads / 2 : 20);
  ++ends.clock_reads;
  idle_ = 0;
  return ends.time;
}

}  // namespace duress::sched
