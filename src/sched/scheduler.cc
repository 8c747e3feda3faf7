// SPDX-License-Identifier: Apache-2.0
//
// Schedule points, waits, and who is next.
#include "sched/scheduler.h"

#include "base/check.h"

namespace duress::sched {

namespace {

constexpr u64 kPointDuration = 100;         // of virtual time, in nanoseconds
constexpr u64 kLongTimer = 10'000'000'000;  // ten seconds
/// Strands that spin take turns of this many points: on the thread backend a handoff costs microseconds.
constexpr u64 kSpinningTurn = 100;
/// All strands spin and nothing changes: after this many points for each, nothing ever will. Large, because a
/// loop that polls a flag while it computes looks the same from here.
constexpr u64 kLivelock = 1'000'000;
constexpr u64 kLastPoints = 10'000;  // of each strand, to see whether it has a few local states only

}  // namespace

void Scheduler::start(const trail::Request& request, trail::Record* record) {
  choices_.start(request, record);
  observer_.start(request.observe);
  watched_ = request.trace || request.observe;
  most_steps_ = request.most_steps ? request.most_steps : trail::kDefaultMostSteps;
  systematic_ = request.systematic;
  if (systematic_) {
    recorder_.start(request.model != ModelId::kSc);
    spins_.start(&recorder_.log(), !choices_.is_exhaustive());
  } else {
    recorder_.start_without_steps();
  }
}

Strand* Scheduler::begin(const trail::Request& request, trail::Record* record, bool emulates_threads) {
  start(request, record);
  emulates_threads_ = emulates_threads;
  if (emulates_threads) handoff_.carry();
  Strand* main = make_strand(0);
  main->state = Strand::State::kReady;
  queue_.add_ready(main);
  handoff_.set_running(main);
  return main;
}

void Scheduler::finish() {
  choices_.finish();
  if (observer_.is_on()) observer_.finish(record());
  if (systematic_) {
    if (running() && others_can_go_on()) recorder_.limit(exhaustive::StepLog::kEndedEarly);
    recorder_.write_pending(strands());
  }
  systematic_ = false;
}

// ---- points

void Scheduler::count_point() {
  ++running()->operations;
  timers_.advance(kPointDuration);
  if (DURESS_UNLIKELY(++record().steps > most_steps_)) stop(trail::Outcome::kStepLimit);
}

void Scheduler::point(const Operation& operation) {
  if (DURESS_UNLIKELY(systematic_)) return systematic_point(operation);
  Strand* s = running();
  s->next = operation;
  count_point();
  // Not s->next: reading back what was just copied costs 10 ns.
  if (DURESS_UNLIKELY(steps_back(s, operation)) && (execution_.alive > 1 || any_alarm())) queue_.step_back(s);
  if (!queue_.is_only_ready(s) || timers_.any() || descriptors_.any()) switch_to(pick());
  // No other strand could run: it goes on, and may step back again.
  if (DURESS_UNLIKELY(s->stepping_back)) queue_.step_forward(s);
  passed(*s);
}

void Scheduler::yield(uptr place) {
  Strand* s = running();
  s->next = {OpKind::kYield, 0, 0, 0, place};
  count_point();
  if (execution_.alive == 1 && !any_alarm()) return;
  if (systematic_) return park_spinner(s);
  queue_.step_back(s);
  Strand* next = pick();
  // One turn of another is enough, unless the strand comes here again with nothing changed.
  if (s->stepping_back && !steps_back(s, s->next)) queue_.step_forward(s);
  switch_to(next);
  if (s->stepping_back) queue_.step_forward(s);
  passed(*s);
}

/// What is pending for other strands keeps the flag; each looks when it passes a point.
void Scheduler::give_attention(Strand& s) {
  attention_.store(false, std::memory_order_relaxed);
  for (Strand* other = strands(); other; other = other->next_strand) {
    if (other != &s && other->signals.pending & ~other->signals.blocked) attend();
  }
  if (attend_) attend_(s);
}

// ---- waits

/// A blocked strand can run.
void Scheduler::make_ready(Strand* s, Wake wake) {
  queues_.dequeue(s);
  descriptors_.remove(s);
  timers_.disarm(s);
  s->wait.wake = wake;
  if (s->state == Strand::State::kReady) return;  // its timer could fire at any time
  s->state = Strand::State::kReady;
  queue_.add_ready(s);
}

Wake Scheduler::wait_here(Strand* s, u64 deadline) {
  s->wait.wake = Wake::kNone;
  s->state = Strand::State::kBlocked;
  s->at_step = systematic_ && exhaustive::may_wait(s->next.kind);
  queue_.remove_ready(s);
  if (deadline != kNever) arm(s, deadline);
  Strand* next = pick();
  if (DURESS_UNLIKELY(next == s && s->visited)) {
    serve_others(s);
  } else {
    switch_to(next);
  }
  if (s->wait.wake == Wake::kNone) {  // chosen while its timer was running
    tell_early(*s);
    fire(s);
  }
  Wake wake = s->wait.wake;
  s->outcomes.could_time_out = false;
  passed(*s);
  return wake;
}

Wake Scheduler::block(const Operation& operation, uptr queue, u64 deadline) {
  Strand* s = running();
  s->next = operation;
  count_point();
  if (systematic_ && operation.kind == OpKind::kSleep) {  // it may be over at once
    if (deadline < kNever - 1) s->outcomes.advance_to(deadline);
    return Wake::kTimeout;
  }
  if (deadline <= timers_.now() && !explores_timeouts()) {
    point(operation);
    return Wake::kTimeout;
  }
  if (DURESS_UNLIKELY(s->in_visit)) end_outer_wait(s);
  queues_.enqueue(s, queue);
  return wait_here(s, deadline);
}

Wake Scheduler::block_on_descriptors(const Operation& operation, pollfd* descriptors, u32 count,
                                     u64 deadline) {
  Strand* s = running();
  s->next = operation;
  count_point();
  if (systematic_) recorder_.limit(exhaustive::StepLog::kDescriptors, operation);
  if (DURESS_UNLIKELY(s->in_visit)) end_outer_wait(s);
  descriptors_.add(s, descriptors, count);
  return wait_here(s, deadline);
}

u32 Scheduler::wake(uptr queue, u32 most) {
  u32 woken = 0;
  for (; woken < most; ++woken) {
    WaitQueues::Object* o = queues_.find(queue);
    if (!o || !o->waiting) break;
    Strand* s = o->first;
    if (systematic_ && most - woken < o->waiting) {
      s = recorder_.waiter_to_wake(*o);
    } else if (most - woken < o->waiting) {
      for (u32 pick = choose(ValueKind::kWakeOne, o->waiting); pick > 0; --pick) s = s->wait.next_in_queue;
    }
    make_ready(s, Wake::kWoken);
    uptr relock = s->wait.relock;
    if (systematic_) {
      recorder_.write_after(*s, *running());
    } else if (relock && holder_of(relock)) {  // it can do nothing until the mutex is free
      queue_.remove_ready(s);
      s->state = Strand::State::kBlocked;
      s->next = {OpKind::kLock, 0, relock, 0, s->next.place};
      queues_.enqueue(s, relock);
    }
  }
  if (woken) changed();
  return woken;
}

void Scheduler::interrupt(Strand* s) {
  if (s->state == Strand::State::kBlocked || s->wait.queued) make_ready(s, Wake::kInterrupted);
}

// ---- time

u64 Scheduler::read_clock() {
  execution_.idle = 0;
  if (explores_timeouts()) return running()->outcomes.read_clock();
  note_clock();
  u64 time = timers_.read_clock(execution_.changes);
  if (DURESS_UNLIKELY(any_alarm())) expire_due_alarms();
  return time;
}

/// Timeouts of waits on descriptors and of joins are not explored.
static bool is_explored_timer(OpKind kind) {
  return kind == OpKind::kWait || kind == OpKind::kFutexWait || exhaustive::may_wait(kind);
}

/// Whether the timer may fire while others can run is a choice; if not, it fires when no other strand can.
void Scheduler::arm(Strand* s, u64 deadline) {
  timers_.arm(s, deadline);
  s->wait.timeout = deadline > timers_.now() ? deadline - timers_.now() : 0;
  if (systematic_) {
    if (!explores_timeouts() || !is_explored_timer(s->next.kind))
      recorder_.limit(exhaustive::StepLog::kTimers, s->next);
    return;
  }
  // The choice is made in any case: a trail means the same whatever was allowed when it was recorded.
  u32 early = may_be_early(*s, s->wait.timeout) ? choose(ValueKind::kEarlyTimer, 2)
                                                : decide(ValueKind::kEarlyTimer, 2, 0);
  if (!early) return;
  s->state = Strand::State::kReady;
  queue_.add_ready(s);
}

/// Programs use a timeout of many seconds to say "never"; those fire only when nothing else can happen.
bool Scheduler::may_be_early(const Strand& s, u64 timeout) const {
  if (s.alarm.expire && !s.alarm.early) return false;
  switch (request().early_timeouts) {
    case trail::EarlyTimeouts::kNone:
      return false;
    case trail::EarlyTimeouts::kAll:
      return true;
    case trail::EarlyTimeouts::kShort:
      break;
  }
  return timeout <= kLongTimer;
}

/// The strand's deadline has come.
void Scheduler::fire(Strand* s) {
  if (s->alarm.expire) return expire(s);
  s->at_step = false;
  timers_.advance_to(s->wait.deadline);
  if (s->wait.deadline != kNever) s->outcomes.advance_to(s->wait.deadline);
  make_ready(s, Wake::kTimeout);
  if (DURESS_UNLIKELY(any_alarm())) expire_due_alarms();
  if (!systematic_) return;
  // Timers fire when nothing else can happen: it goes on after all that others did.
  for (const Strand* other = strands(); other; other = other->next_strand) recorder_.write_after(*s, *other);
}

bool Scheduler::fire_earliest() {
  Strand* earliest = timers_.any()
                         ? Timers::earliest(strands(), execution_.first_alarm, queue_.spinning_count() != 0)
                         : nullptr;
  if (earliest) fire(earliest);
  return earliest != nullptr;
}

// ---- who is next

Strand* Scheduler::choose_thread() {
  Strand* const* ready = queue_.ready();
  if (queue_.ready_count() == 1) return ready[0];
  Strand* s = running();
  bool can = s->state == Strand::State::kReady && !s->stepping_back;
  return static_cast<Strand*>(choices_.choose_thread(reinterpret_cast<StrandView* const*>(ready),
                                                     queue_.ready_count(), can ? s : nullptr,
                                                     can ? s : queue_.lowest_ready(), record().steps));
}

Strand* Scheduler::pick() {
  if (DURESS_UNLIKELY(systematic_)) return systematic_pick();
  for (;;) {
    if (timers_.any_due())
      timers_.fire_due(strands(), execution_.first_alarm, [this](Strand* s) { fire(s); });
    if (descriptors_.any()) poll_descriptors(0);
    if (queue_.ready_count()) {
      execution_.idle = 0;
      execution_.suspects_livelock = false;
      Strand* next = choose_thread();
      if (DURESS_LIKELY(!next->alarm.expire)) return next;
      tell_early(*next);
      expire(next);
      continue;
    }
    if (fire_earliest()) continue;
    if (queue_.spinning_count()) {
      if (Strand* s = pick_spinning()) return s;
      continue;
    }
    if (!descriptors_.any()) stop(trail::Outcome::kDeadlock);
    await_descriptors();
  }
}

/// Nothing can happen but from outside: a descriptor becomes ready, or a signal comes.
void Scheduler::await_descriptors() {
  constexpr int kLookForSignals = 100;  // milliseconds
  poll_descriptors(kLookForSignals);
  if (attention_.load(std::memory_order_relaxed) && route_) route_();
}

/// All strands that can run are spinning. Null: a descriptor has become ready.
Strand* Scheduler::pick_spinning() {
  Execution& e = execution_;
  if (descriptors_.any()) {
    poll_descriptors(1);
    if (queue_.ready_count()) return nullptr;
  } else if (++e.idle > (e.suspects_livelock ? kLastPoints : kLivelock) * queue_.spinning_count()) {
    if (e.suspects_livelock) stop(trail::Outcome::kLivelock);
    e.suspects_livelock = true;
    e.idle = 0;
    for (Strand* s = strands(); s; s = s->next_strand) s->repetition.forget_states();
  }
  if (e.idle % kSpinningTurn == 0) queue_.rotate_spinning();
  return queue_.spinning(0);
}

// ---- the end

void Scheduler::stop(trail::Outcome outcome) {
  if (execution_.stopping) exit_process(125);
  execution_.stopping = true;
  record().outcome = outcome;
  finish();
  dump_all();
  callbacks_.stuck(outcome);
  exit_process(125);
}

/// Each strand in turn records its own call stack: only it can walk it.
void Scheduler::dump_all() {
  Strand* self = running();
  execution_.dumper = self;
  callbacks_.dump(*self);
  for (Strand* s = strands(); s; s = s->next_strand) {
    if (s == self || s->state == Strand::State::kEnded) continue;
    s->dump = true;
    switch_to(s);
  }
  handoff_.set_running(self);
}

}  // namespace duress::sched
