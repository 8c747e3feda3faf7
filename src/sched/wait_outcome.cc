// SPDX-License-Identifier: Apache-2.0
#include "sched/wait_outcome.h"

#include "sched/scheduler.h"

namespace duress::sched {

namespace {

u64 bit(WaitEnd end) {
  return u64{1} << raw(end);
}

}  // namespace

WaitOutcomes::Place* WaitOutcomes::at(uptr place) {
  for (Place& entry : places) {
    if (entry.place == 0) entry.place = place;
    if (entry.place == place) return &entry;
  }
  return nullptr;
}

u64 WaitOutcomes::possible(uptr place, bool may_be_spurious, bool timed, const trail::Request& request) {
  u64 ends = bit(WaitEnd::kWoken);
  const Place* known = at(place);
  if (!known) return ends;
  if (may_be_spurious && known->spurious < request.spurious) ends |= bit(WaitEnd::kSpurious);
  if (timed && known->timeouts < request.timeouts) ends |= bit(WaitEnd::kTimeout);
  return ends;
}

void WaitOutcomes::ended(uptr place, WaitEnd end, u64 deadline) {
  forget_choice();
  if (end == WaitEnd::kTimeout && deadline < kNever - 1) advance_to(deadline);
  if (end == WaitEnd::kWoken) clock_reads = 0;
  Place* known = at(place);
  if (!known) return;
  if (end == WaitEnd::kWoken) known->spurious = known->timeouts = 0;
  if (end == WaitEnd::kSpurious) ++known->spurious;
  if (end == WaitEnd::kTimeout) ++known->timeouts;
}

u64 WaitOutcomes::read_clock() {
  return time += clock_advance(clock_reads++);
}

WaitEnd Scheduler::choose_end(const Operation& wait, bool may_be_spurious, u64 deadline) {
  WaitOutcomes& outcomes = running()->outcomes;
  outcomes.forget_choice();
  if (!systematic_ || recorder_.weak() || (!request().spurious && !request().timeouts))
    return WaitEnd::kWoken;
  u64 ends = outcomes.possible(wait.place, may_be_spurious, deadline != kNever, request());
  bool may_time_out = (ends & bit(WaitEnd::kTimeout)) != 0;
  if (may_time_out && deadline <= outcomes.time) {  // it is over before it began
    outcomes.chosen = WaitEnd::kTimeout;
  } else if (ends & (ends - 1)) {
    systematic_point({OpKind::kChoose, 0, 0, 0, wait.place, 0, 0, ends});
    outcomes.chose = true;
    outcomes.could_time_out = may_time_out && outcomes.chosen == WaitEnd::kWoken;
  }
  return outcomes.chosen;
}

void Scheduler::wait_ended(uptr place, WaitEnd end, u64 deadline) {
  Strand& s = *running();
  s.outcomes.by_itself = end != WaitEnd::kWoken;
  if (s.outcomes.by_itself && request().trace) {
    s.next = {end == WaitEnd::kTimeout ? OpKind::kTimeout : OpKind::kSpurious, 0, 0, 0, place};
    trace(s);
  }
  if (systematic_) s.outcomes.ended(place, end, deadline);
}

bool Scheduler::tries_instead(uptr place, u64 deadline) {
  if (deadline == kNever || !explores_timeouts() || recorder_.weak()) return false;
  return (running()->outcomes.possible(place, false, true, request()) & bit(WaitEnd::kTimeout)) != 0;
}

void Scheduler::tried(uptr place, u64 deadline, bool in_time) {
  wait_ended(place, in_time ? WaitEnd::kWoken : WaitEnd::kTimeout, deadline);
}

/// Nothing can happen, and a strand waits that could have timed out: the execution with the timeout is
/// another one.
bool Scheduler::missed_timeout() const {
  for (const Strand* s = strands(); s; s = s->next_strand) {
    if (s->state == Strand::State::kBlocked && s->wait.queued && s->outcomes.could_time_out) return true;
  }
  return false;
}

void Scheduler::timeout_unused() {
  if (running()->outcomes.chose) discard_execution();
}

/// Ends the execution, which does not count; its steps are recorded all the same.
void Scheduler::discard_execution() {
  if (systematic_) recorder_.limit(exhaustive::StepLog::kAwaitBlocked);
  finish();
  record().outcome = trail::Outcome::kEnded;
  callbacks_.stuck(trail::Outcome::kEnded);
  exit_process(125);
}

// ---- what programs say

u32 Scheduler::nondet(u32 count, uptr place) {
  constexpr u32 kMost = 64;  // alternatives of a step
  if (count < 2) return 0;
  if (!systematic_) return choose(ValueKind::kNondet, count);
  u32 above = 0;
  if (count > kMost) {
    above = nondet((count - 1) / kMost + 1, place) * kMost;
    count = count - above < kMost ? count - above : kMost;
    if (count == 1) return above;
  }
  u64 all = count == kMost ? ~u64{0} : (u64{1} << count) - 1;
  WaitOutcomes& outcomes = running()->outcomes;
  outcomes.forget_choice();
  systematic_point({OpKind::kChoose, 0, 0, 0, place, 0, 0, all});
  u32 chosen = raw(outcomes.chosen);
  outcomes.forget_choice();
  return above + chosen;
}

void Scheduler::assumption_failed(uptr place) {
  if (systematic_) leave(place);
  discard_execution();
}

}  // namespace duress::sched
