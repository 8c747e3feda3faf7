// SPDX-License-Identifier: Apache-2.0
//
// Systematic executions, for exploring all of them (src/exhaustive). A choice is made only where the order
// can matter: before a *step*, an operation on something that other strands can touch. All else (a thread is
// created, starts, is joined, goes on after a wait) happens at once, before the next choice, so every strand
// has come to its next step when one is chosen. A step that would block is not a candidate: who may go on is
// known before the choice, and no choice is wasted.
#include "exhaustive/silent.h"
#include "sched/scheduler.h"
#include "trail/strand_path.h"

namespace duress::sched {

using exhaustive::StepLog;

namespace {

/// Parked strands, which only yield, run this often when nothing else can happen.
constexpr u64 kMostIdle = 1000;
/// A strand that yields more often in a row is parked.
constexpr u32 kMostYields = 2;
/// A strand that ends the process waits for this many steps of others.
constexpr u64 kMostWhileLeaving = 10'000;
/// A strand that performs more steps in a row while others could lets these go first.
constexpr u32 kLongRun = 2'000;
/// What every strand that ends the process touches: only the first one does end it.
constexpr uptr kProcess = 1;

bool is_step(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kStart:
    case OpKind::kEnd:
    case OpKind::kFence:
    case OpKind::kCreate:
    case OpKind::kCreated:
    case OpKind::kJoin:
    case OpKind::kYield:
    case OpKind::kSleep:
    case OpKind::kSystem:
      return false;
    default:
      return true;
  }
}

}  // namespace

/// Who may be chosen, in candidates_, and what else is known of the strands in the run queue.
struct Scheduler::Candidates {
  u32 count = 0;
  Strand* lowest = nullptr;
  Strand* current = nullptr;     // the running strand, if it is one
  Strand* continuing = nullptr;  // has not come to its next step
  Strand* parked = nullptr;
  Strand* awaiting = nullptr;  // in an await loop
  Strand* leaving = nullptr;   // ends the process
  u32 leaving_count = 0;
};

void Scheduler::name_strand(Strand* s) {
  Strand* parent = running();
  s->id = 0;
  if (parent) {
    // Created alike, and its creator performed no step in between.
    const bool alike = s->start_key && s->start_key == parent->child_key &&
                       parent->child_made == parent->spin.stepped_at && request().symmetry;
    const u32 before = parent->children++;
    s->id = recorder_.log().strand_of({parent->id, parent->children, alike ? before : 0});
    parent->child_key = s->start_key;
    parent->child_made = parent->spin.stepped_at;
  }
  s->path = parent ? trail::path_of(parent->path, parent->children) : 0;
}

void Scheduler::systematic_point(const Operation& operation) {
  Strand* s = running();
  s->next = operation;
  count_point();
  if (is_step(operation)) {
    s->at_step = true;
    s->spin.yields = 0;
    spins_.at_step(*s);
    switch_to(systematic_pick());
  } else if (operation.kind == OpKind::kJoin && operation.object) {
    auto* other = reinterpret_cast<const Strand*>(operation.object);
    if (other->state == Strand::State::kEnded) recorder_.write_after(*s, *other);
  }
  passed(*s);
}

bool Scheduler::can_step(const Strand& s) const {
  const Operation& operation = s.next;
  // Under a memory model an await loop is not resumed: what it could read then is another execution.
  if (DURESS_UNLIKELY(s.spin.awaits) && (recorder_.weak() || !spins_.sees_change(s))) return false;
  switch (operation.kind) {
    case OpKind::kAcquire:
    case OpKind::kReadLock:
      return exhaustive::enabled(operation.kind, callbacks_.state(operation));
    case OpKind::kLock:
      return operation.size == 0 || exhaustive::enabled(operation.kind, callbacks_.state(operation));
    default:
      return true;
  }
}

void Scheduler::collect_candidates(Candidates& found) {
  for (u32 i = 0; i < queue_.ready_count(); ++i) {
    Strand* s = queue_.ready()[i];
    if (DURESS_UNLIKELY(s->spin.leaving)) {
      found.leaving = s;
      ++found.leaving_count;
      continue;
    }
    if (DURESS_UNLIKELY(s->spin.parked)) {
      found.parked = s;
      continue;
    }
    if (!s->at_step) {
      found.continuing = s;
      return;
    }
    if (s->spin.awaits) found.awaiting = s;
    if (!can_step(*s)) continue;
    candidates_[found.count++] = s;
    if (s == running()) found.current = s;
    if (!found.lowest || s->number < found.lowest->number) found.lowest = s;
  }
}

Strand* Scheduler::systematic_pick() {
  if (DURESS_UNLIKELY(candidates_room_ < queue_.capacity())) {
    candidates_room_ = queue_.capacity();
    candidates_ = static_cast<Strand**>(arena_.allocate(candidates_room_ * sizeof(Strand*)));
  }
  for (;;) {
    if (descriptors_.any()) {
      recorder_.limit(StepLog::kDescriptors);
      poll_descriptors(0);
    }
    Candidates found;
    collect_candidates(found);
    if (found.continuing) return found.continuing;
    if (DURESS_UNLIKELY(found.leaving && found.count &&
                        recorder_.steps() - execution_.left_at > kMostWhileLeaving)) {
      recorder_.limit(StepLog::kEndedEarly);
      found.count = 0;
    }
    if (found.count) return choose_step(found);
    if (Strand* s = without_candidates(found)) return s;
  }
}

Strand* Scheduler::choose_step(const Candidates& found) {
  Strand* next = candidates_[0];
  if (DURESS_UNLIKELY(found.count > 1 && !execution_.has_chosen)) {
    execution_.has_chosen = true;
    if (callbacks_.first_choice && callbacks_.first_choice()) choices_.restart();
  }
  if (Strand* other = found.count > 1 ? after_long_run(found.count) : nullptr) {
    next = other;
  } else if (found.count > 1) {
    next = static_cast<Strand*>(
        choices_.choose_thread(reinterpret_cast<StrandView* const*>(candidates_), found.count, found.current,
                               found.current ? found.current : found.lowest, recorder_.steps()));
  }
  next->at_step = next->spin.left = false;
  for (Strand* s = strands(); s; s = s->next_strand) s->spin.parked = false;
  LongRun& run = execution_.long_run;
  run = {next, next == run.strand ? run.steps + (found.count > 1) : 0};
  next->spin.stepped_at = recorder_.steps();
  recorder_.write_step(*next);
  return next;
}

/// The strand that has waited longest, if one has gone on for long while others could: it might go on for
/// ever, which no fair schedule lets it do. What it could do in a longer run is not explored.
Strand* Scheduler::after_long_run(u32 count) {
  LongRun& run = execution_.long_run;
  if (run.steps < kLongRun) return nullptr;
  recorder_.limit(StepLog::kLongRun, running()->next);
  Strand* longest = nullptr;
  for (u32 i = 0; i < count; ++i) {
    Strand* s = candidates_[i];
    if (s != run.strand && (!longest || s->spin.stepped_at < longest->spin.stepped_at)) longest = s;
  }
  return longest;
}

/// No strand can perform a step. Null: a timer has fired or a descriptor is ready.
Strand* Scheduler::without_candidates(Candidates& found) {
  if (found.leaving) return choose_leaving(found);
  if (explores_timeouts() && missed_timeout()) discard_execution();
  if (fire_earliest()) return nullptr;
  if (found.parked) {
    if (++execution_.idle > kMostIdle) stop(trail::Outcome::kLivelock);
    return found.parked;
  }
  if (recorder_.weak()) {
    if (spins_.lost_trylock(strands())) recorder_.limit(StepLog::kTried);
    if (spins_.misses_newer_store(strands())) {
      recorder_.limit(StepLog::kAwaitBlocked);
      finish();
      record().outcome = trail::Outcome::kEnded;
      callbacks_.stuck(trail::Outcome::kEnded);
    }
  }
  if (!descriptors_.any()) stop(found.awaiting ? trail::Outcome::kLivelock : trail::Outcome::kDeadlock);
  await_descriptors();
  return nullptr;
}

/// A strand that yields again and again, and comes to no step in between, waits for plain memory: it lets the
/// others perform a step first.
void Scheduler::park_spinner(Strand* s) {
  if (++s->spin.yields <= kMostYields) return;
  s->at_step = false;
  s->spin.parked = true;
  switch_to(systematic_pick());
  s->spin.parked = false;
}

/// Which of several strands ends the process, with its exit code or its failure, is a step.
Strand* Scheduler::choose_leaving(Candidates& found) {
  if (found.leaving_count == 1) {
    found.leaving->at_step = false;
    return found.leaving;
  }
  found.count = 0;
  for (u32 i = 0; i < queue_.ready_count(); ++i) {
    Strand* s = queue_.ready()[i];
    if (!s->spin.leaving) continue;
    candidates_[found.count++] = s;
    if (!found.lowest || s->number < found.lowest->number) found.lowest = s;
  }
  return choose_step(found);
}

// Others run on until the process is gone. What they could have done by then is part of the executions, and
// an execution that ended before it would hide all that conflicts with it.
void Scheduler::leave(uptr place) {
  Strand* s = running();
  if ((execution_.alive == 1 && !any_alarm()) || s->spin.left) return;
  Operation operation = {OpKind::kExit, 0, systematic_ ? kProcess : 0, 0, place};
  if (!systematic_) return point(operation);
  s->next = operation;
  s->at_step = s->spin.leaving = true;
  bool first = true;
  for (const Strand* other = strands(); other; other = other->next_strand)
    first &= other == s || !other->spin.leaving;
  if (first) execution_.left_at = recorder_.steps();
  switch_to(systematic_pick());
  s->spin.leaving = false;
  s->spin.left = true;
}

bool Scheduler::others_can_go_on() const {
  for (u32 i = 0; i < queue_.ready_count(); ++i) {
    const Strand* s = queue_.ready()[i];
    if (s == running() || s->spin.leaving || s->spin.parked) continue;
    if (!s->at_step || can_step(*s)) return true;
  }
  return false;
}

}  // namespace duress::sched
