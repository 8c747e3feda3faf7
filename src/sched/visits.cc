// SPDX-License-Identifier: Apache-2.0
//
// A strand gets the turn for something else than its own work: to record its call stack, to give up its job,
// or, while it waits, to run the handlers of its signals. The last is a *visit*: it keeps its place in the
// queue where it waits, and may be woken there meanwhile.
#include "sched/scheduler.h"

namespace duress::sched {

void Scheduler::visit(Strand* s) {
  if (s->state != Strand::State::kBlocked || s->visited) return;
  s->visited = true;
  s->state = Strand::State::kReady;
  queue_.add_ready(s);
}

/// A handler waits itself, and a strand can be in one queue only: the wait that it interrupted is over.
void Scheduler::end_outer_wait(Strand* s) {
  s->in_visit = false;
  bool waits = s->wait.queued || s->wait.descriptors;
  s->wait.outer_wake = waits ? Wake::kInterrupted : s->wait.wake;
  queues_.dequeue(s);
  descriptors_.remove(s);
  timers_.disarm(s);
}

/// True: it waits on.
bool Scheduler::serve_visit(Strand* self) {
  Operation next = self->next;
  bool at_step = self->at_step;
  self->visited = self->at_step = false;
  self->in_visit = true;
  attend_(*self);
  if (!self->in_visit) {
    self->wait.wake = self->wait.outer_wake;
    return false;
  }
  self->in_visit = false;
  self->next = next;
  if (!self->wait.queued && !self->wait.descriptors) return false;  // it was woken
  self->at_step = at_step;
  self->state = Strand::State::kBlocked;
  queue_.remove_ready(self);
  return true;
}

void Scheduler::preempt(uptr place) {
  Strand* s = running();
  s->next = {OpKind::kYield, 0, 0, 0, place};
  count_point();
  if (execution_.alive == 1 && !any_alarm()) return;
  if (systematic_) {
    s->spin.yields = ~u32{0} - 1;
    return park_spinner(s);
  }
  s->preempted = true;
  queue_.step_back(s);
  switch_to(pick());
  if (s->stepping_back) queue_.step_forward(s);
  s->preempted = false;
  passed(*s);
}

void Scheduler::serve_others(Strand* self) {
  for (;;) {
    if (self->pool.called_back) callbacks_.give_up(*self);
    Strand* next;
    if (self->dump) {
      self->dump = false;
      callbacks_.dump(*self);
      next = execution_.dumper;
    } else if (self->visited) {
      if (!serve_visit(self)) return;
      next = pick();
    } else {
      return;
    }
    if (next != self) handoff_.switch_to(next);
  }
}

}  // namespace duress::sched
