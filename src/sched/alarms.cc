// SPDX-License-Identifier: Apache-2.0
//
// Timers of the program: setitimer, timer_create, timerfd. They are no strands, but strategies choose them
// among strands: when the program's timer expires is then a choice of the schedule as any other, is written
// to the trail, and is replayed.
#include "sched/scheduler.h"

namespace duress::sched {

Strand* Scheduler::make_alarm(void (*expire)(Strand& alarm), void* owner) {
  Execution& e = execution_;
  Strand* a = arena_.make<Strand>();
  queue_.reserve(e.made + ++e.alarms, arena_);
  a->number = kFirstAlarm + e.alarms - 1;
  a->state = Strand::State::kBlocked;
  a->alarm.expire = expire;
  a->alarm.owner = owner;
  Strand** end = &e.first_alarm;
  while (*end) end = &(*end)->next_strand;
  *end = a;
  // A program with one thread and a timer has more than one schedule.
  if (record().strands < 2) record().strands = 2;
  return a;
}

void Scheduler::set_alarm(Strand* a, u64 deadline, uptr place) {
  timers_.disarm(a);
  if (a->state == Strand::State::kReady) {
    queue_.remove_ready(a);
    a->state = Strand::State::kBlocked;
  }
  if (deadline == kNever) return;
  a->next = {OpKind::kSleep, 0, reinterpret_cast<uptr>(a), 0, place};
  arm(a, deadline);
}

/// Its time has come, or it was chosen. The runtime tells the program, and sets it again if it is periodic.
void Scheduler::expire(Strand* a) {
  u64 deadline = a->wait.deadline;
  timers_.disarm(a);
  if (a->state == Strand::State::kReady) queue_.remove_ready(a);
  a->state = Strand::State::kBlocked;
  timers_.advance_to(deadline);
  ++a->operations;
  if (DURESS_UNLIKELY(++record().steps > most_steps_)) stop(trail::Outcome::kStepLimit);
  execution_.idle = 0;
  a->alarm.expire(*a);
}

/// Threads may be slow, but the kernel's timers are not: before a strand sees that time has passed, whatever
/// expired meanwhile has been told to the program.
void Scheduler::expire_due_alarms() {
  for (;;) {
    Strand* a = Timers::earliest(nullptr, execution_.first_alarm, /*processor_used=*/true);
    if (!a || a->wait.deadline > timers_.now()) return;
    expire(a);
  }
}

}  // namespace duress::sched
