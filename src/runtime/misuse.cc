// SPDX-License-Identifier: Apache-2.0
#include "runtime/misuse.h"

#include "runtime/control.h"
#include "runtime/memory_guard.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {

MisuseCalls g_misuse_calls = {};

namespace {

/// Where a lock was taken, or a thread was made. What no longer fits is forgotten: then only the
/// innermost call is reported.
struct Noted {
  uptr object;
  MisuseCalls calls;
};
constexpr u32 kNoted = 512;
Noted noted[kNoted];

Noted& noted_of(uptr object) {
  return noted[mix(object) % kNoted];
}

bool looks() {
  return controlled() && scheduler().is_systematic();
}

[[noreturn]] void found(trail::Outcome outcome, uptr object, uptr place) {
  const Noted& known = noted_of(object);
  if (object && known.object == object) {
    g_misuse_calls = known.calls;
  } else {
    g_misuse_calls = {{place}, place ? 1u : 0u};
  }
  scheduler().misuse(outcome);
}

/// A robust mutex may be left locked: the next one to lock it gets EOWNERDEAD.
bool may_be_kept(uptr lock) {
  constexpr int kRobust = 16;
  return reinterpret_cast<const pthread_mutex_t*>(lock)->__data.__kind & kRobust;
}

}  // namespace

void memory_error(const MemoryError& error) {
  Runtime& rt = *g_runtime;
  if (g_memory_listener)
    g_memory_listener(error);
  else
    rt.reporter.memory_error(error);
  g_misuse_calls = {};
  for (StackId at = error.place.stack; raw(at) && g_misuse_calls.count < MisuseCalls::kMost;
       at = rt.stacks.caller(at))
    g_misuse_calls.pc[g_misuse_calls.count++] = rt.stacks.return_address(at);
  scheduler().misuse(error.outcome);
}

void misuse_note_lock(const void* lock, uptr pc) {
  if (!looks()) return;
  Noted& entry = noted_of(address_of(lock));
  entry = {address_of(lock), {{pc}, 1}};
  // std::mutex calls it from within the C++ library's headers: the report needs their caller, whichever body
  // of a function runs. Explorations have frames at hand, and lock often; a replay need not be fast.
  Thread* t = current_thread();
  if (!t) {
    entry.calls.count = static_cast<u32>(unwind_stack(entry.calls.pc, MisuseCalls::kMost, pc));
    return;
  }
  const DuressFrame* frame = __duress_self.frames;
  while (frame > t->frames_begin && entry.calls.count < MisuseCalls::kMost)
    entry.calls.pc[entry.calls.count++] = (--frame)->return_address;
}

void misuse_note_thread(const sched::Strand* strand, const uptr* caller) {
  if (!looks()) return;
  Noted& entry = noted_of(address_of(strand));
  entry.object = address_of(strand);
  int count = unwind_stack_from(entry.calls.pc, MisuseCalls::kMost, caller);
  entry.calls.count = static_cast<u32>(count);
}

void misuse_at_unlock(const pthread_mutex_t* mutex) {
  if (!looks()) return;
  const sched::Strand* holder = scheduler().holder_of(address_of(mutex));
  // Locked by somebody whom the scheduler did not see: nothing is known.
  if (!holder && mutex->__data.__lock != 0) return;
  if (holder == controlled()) return;
  found(holder ? trail::Outcome::kUnlockedByOther : trail::Outcome::kUnlockedTwice, 0, 0);
}

void misuse_at_thread_end() {
  if (!looks()) return;
  const sched::Strand& s = *controlled();
  for (u32 i = 0; i < s.held.count; ++i) {
    const sched::HeldLocks::Lock& lock = s.held.locks[i];
    if (lock.kind == OpKind::kLock && !may_be_kept(lock.address))
      found(trail::Outcome::kLockKept, lock.address, lock.taken_at);
  }
}

void misuse_at_exit() {
  if (!looks()) return;
  misuse_at_thread_end();
  for (const sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->number != 0 && s->thread_made && !s->joined && !s->detached && !s->of_library)
      found(trail::Outcome::kNotJoined, address_of(s), s->created_at);
  }
}

}  // namespace duress
