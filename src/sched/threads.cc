// SPDX-License-Identifier: Apache-2.0
//
// The life of strands, in programs and in closures (duress::check).
#include "sched/context.h"
#include "sched/scheduler.h"

namespace duress::sched {

Strand* Scheduler::allocate_strand() {
  auto* s = arena_.make<Strand>();
  if (!emulates_threads_)
    s->kernel.parking_stack = static_cast<char*>(arena_.allocate(Handoff::kParkingBytes));
  return s;
}

void Scheduler::enlist(Strand* s, uptr created_at) {
  Execution& e = execution_;
  queue_.reserve(e.made + 1 + e.alarms, arena_);
  s->number = e.made++;
  s->state = Strand::State::kBlocked;
  s->creator = running() ? running()->number : 0;
  s->created_at = created_at;
  s->next = {};
  if (systematic_) name_strand(s);
  (e.last ? e.last->next_strand : e.first) = s;
  e.last = s;
  ++e.alive;
  record().strands = e.made;
}

Strand* Scheduler::make_strand(uptr created_at, u64 start_key) {
  Strand* s = allocate_strand();
  s->start_key = start_key;
  enlist(s, created_at);
  if (s->number == 0) {
    s->kernel.thread_pointer = thread_pointer();
    s->kernel.os_id = thread_number();
    s->kernel.arrived.store(1);
  }
  return s;
}

void Scheduler::forget_strand(Strand* s) {
  s->state = Strand::State::kEnded;
  --execution_.alive;
}

void Scheduler::creates(uptr place) {
  const Operation operation = {OpKind::kCreate, 0, 0, 0, place};
  if (systematic_) return point(operation);
  running()->next = operation;
  count_point();
  passed(*running());
}

/// A systematic execution comes to the next step of each strand before it chooses one of them.
void Scheduler::created(uptr place) {
  if (!systematic_ && creations_are_points_) point({OpKind::kCreated, 0, 0, 0, place});
}

void Scheduler::launch(Strand* s) {
  s->state = Strand::State::kReady;
  queue_.add_ready(s);
  if (systematic_ && running()) recorder_.write_after(*s, *running());
  changed();
}

void Scheduler::arrive(Strand* s) {
  handoff_.arrive(s);
  after_switch(s);
}

void Scheduler::arrive(Strand* s, void* load, uptr storage) {
  handoff_.arrive(s, load, storage);
  after_switch(s);
}

/// The running strand has ended. False: it was the last one.
bool Scheduler::end_running() {
  Strand* self = running();
  self->next.kind = OpKind::kEnd;
  queue_.remove_ready(self);
  self->state = Strand::State::kEnded;
  wake(reinterpret_cast<uptr>(self));
  changed();
  return --execution_.alive != 0;
}

void Scheduler::end() {
  if (!end_running()) return callbacks_.nobody_left();
  handoff_.end(pick());
}

void Scheduler::alone(trail::Record* record) {
  choices_.set_record(record);
  Strand* self = running();
  for (Strand* s = strands(); s; s = s->next_strand) {
    if (s != self) s->state = Strand::State::kEnded;
    s->wait.deadline = kNever;
    s->wait.descriptors = nullptr;
    s->wait.queued = false;
  }
  queues_.forget_waiting();
  queue_.clear();
  for (Strand* a = execution_.first_alarm; a; a = a->next_strand) {
    a->wait.deadline = kNever;
    a->state = Strand::State::kBlocked;
  }
  timers_.forget_deadlines();
  descriptors_ = {};
  execution_.alive = 1;
  self->state = Strand::State::kReady;
  self->stepping_back = false;
  queue_.add_ready(self);
  handoff_.alone();
}

// ---- closures

Strand* Scheduler::make_spare() {
  prepare_contexts();
  return allocate_strand();
}

void Scheduler::begin_closure(const trail::Request& request, trail::Record* record) {
  execution_ = {};
  timers_ = {};
  descriptors_ = {};
  queue_.clear();
  queues_.clear();  // an abandoned execution left entries
  handoff_.begin_closure();
  start(request, record);
}

void Scheduler::end_job() {
  if (end_running()) {
    switch_to(pick());
  } else {
    handoff_.leave();
  }
}

void Scheduler::abandon() {
  Strand* self = running();
  self->pool.in_job = true;  // also if it was about to end
  self->state = Strand::State::kBlocked;
  handoff_.leave();
  callbacks_.give_up(*self);
  __builtin_unreachable();
}

void Scheduler::call_back() {
  for (Strand* s = strands(); s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded) continue;
    if (s->pool.in_job) {
      s->pool.called_back = true;
      handoff_.run(s);
      s->pool.called_back = false;
    }
    s->state = Strand::State::kEnded;
  }
}

}  // namespace duress::sched
