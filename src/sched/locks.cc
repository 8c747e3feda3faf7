// SPDX-License-Identifier: Apache-2.0
//
// Exclusive locks. The scheduler knows their holders: a strand that comes to a held lock is not runnable, so
// no choice is wasted on it, and a report can name the holder.
#include "sched/scheduler.h"
#include "trail/site_key.h"

namespace duress::sched {

void Scheduler::name_lock(Operation& operation) const {
  const HeldLocks& held = running()->held;
  for (u32 i = 0; i < held.count; ++i) {
    u32 key = trail::lock_key(held.locks[i].address, operation.object);
    for (const trail::SitePair& pair : request().pairs()) {
      if (pair.first == key || pair.second == key) operation.site = key;
    }
  }
}

bool Scheduler::approach_lock(const Operation& asked, bool reentrant, u64 deadline) {
  Operation operation = asked;
  if (DURESS_UNLIKELY(running()->held.count != 0 && request().pair_count != 0)) name_lock(operation);
  WaitQueues::Object& o = queues_.get(operation.object);
  ++o.contenders;
  bool held = o.holder && !(o.holder == running() && reentrant);
  bool in_time = true;
  if (held) {
    in_time = block(operation, operation.object, deadline) != Wake::kTimeout;
  } else {
    point(operation);
  }
  --o.contenders;
  queues_.drop_if_unused(o);
  return in_time;
}

void Scheduler::lock_taken(uptr lock) {
  WaitQueues::Object& o = queues_.get(lock);
  o.holder = running();
  if (++o.depth == 1) running()->held.add(lock, running()->next);
  if (DURESS_LIKELY(!o.contenders)) return;
  // Those that had come to the free lock cannot go on any more.
  for (u32 i = queue_.ready_count(); i-- > 0;) {
    Strand* s = queue_.ready()[i];
    if (s == running() || s->wait.queued || s->next.kind != OpKind::kLock || s->next.object != lock) continue;
    queue_.remove_ready(s);
    s->state = Strand::State::kBlocked;
    queues_.enqueue(s, lock);
  }
}

bool Scheduler::is_wanted(uptr lock) const {
  const WaitQueues::Object* o = queues_.find(lock);
  for (Strand* s = o ? o->first : nullptr; s; s = s->wait.next_in_queue) {
    if (s->next.kind == OpKind::kLock) return true;
  }
  return false;
}

bool Scheduler::is_waited_at(uptr object) const {
  for (const Strand* s = strands(); s; s = s->next_strand) {
    if (s == running() || s->state == Strand::State::kEnded || s->next.object != object) continue;
    if (!exhaustive::may_wait(s->next.kind) && s->next.kind != OpKind::kWait) continue;
    // In systematic executions a strand stays at its step instead of entering a queue.
    if (s->wait.queued || (systematic_ && s->at_step && !can_step(*s))) return true;
  }
  return false;
}

void Scheduler::lock_given(uptr lock) {
  // Whoever only tries it may try again. Nothing else has changed: a strand that reads something under a lock
  // again and again must be seen to wait.
  for (u32 i = queue_.spinning_count(); i-- > 0;) {
    Strand* s = queue_.spinning(i);
    if (s != running() && s->next.object == lock) queue_.step_forward(s);
  }
  WaitQueues::Object* o = queues_.find(lock);
  if (!o) return;
  if (o->depth && --o->depth) return;
  if (o->holder) o->holder->held.remove(lock);
  o->holder = nullptr;
  if (!o->waiting) return queues_.drop_if_unused(*o);
  // The object may be dropped with its last waiter.
  for (u32 i = o->waiting; i > 0; --i) make_ready(o->first, Wake::kWoken);
}

void Scheduler::lock_abandoned(uptr lock) {
  if (WaitQueues::Object* o = queues_.find(lock)) o->depth = 1;
  lock_given(lock);
}

}  // namespace duress::sched
