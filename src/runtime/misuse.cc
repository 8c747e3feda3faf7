// SPDX-License-Identifier: Apache-2.0
#include "runtime/misuse.h"

#include "runtime/control.h"

namespace duress {

uptr g_misuse_place = 0;

namespace {

bool looks() {
  return controlled() && scheduler().by_steps();
}

[[noreturn]] void found(trail::Outcome outcome, uptr place) {
  g_misuse_place = place;
  scheduler().misuse(outcome);
}

/// A robust mutex may be left locked: the next one is told.
bool may_be_kept(uptr lock) {
  constexpr int kRobust = 16;
  return reinterpret_cast<const pthread_mutex_t*>(lock)->__data.__kind & kRobust;
}

}  // namespace

void misuse_at_unlock(const pthread_mutex_t* mutex) {
  if (!looks()) return;
  const sched::Strand* holder = scheduler().holder_of(address_of(mutex));
  // Locked by somebody whom the scheduler did not see: nothing is known.
  if (!holder && mutex->__data.__lock != 0) return;
  if (holder == controlled()) return;
  found(holder ? trail::kUnlockedByOther : trail::kUnlockedTwice, 0);
}

void misuse_at_thread_end() {
  if (!looks()) return;
  const sched::Strand& s = *controlled();
  for (u32 i = 0; i < s.held_count; ++i) {
    if (s.held_kind[i] == OpKind::kLock && !may_be_kept(s.held[i])) found(trail::kLockKept, s.held_at[i]);
  }
}

void misuse_at_exit() {
  if (!looks()) return;
  misuse_at_thread_end();
  for (const sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->number != 0 && s->thread_made && !s->joined && !s->detached)
      found(trail::kNotJoined, s->created_at);
  }
}

}  // namespace duress
