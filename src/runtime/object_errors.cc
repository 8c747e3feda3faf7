// SPDX-License-Identifier: Apache-2.0
#include "runtime/object_errors.h"

#include "runtime/control.h"
#include "runtime/memory_guard.h"
#include "runtime/runtime.h"

// Of the executable; the linker's.
extern "C" const char __executable_start[] __attribute__((weak, visibility("hidden")));
extern "C" const char _end[] __attribute__((weak, visibility("hidden")));

namespace duress {
namespace {

/// The last thing that was seen to be done to an object. What no longer fits is forgotten: then nothing is
/// said.
struct Noted {
  uptr object;
  bool destroyed;  // else initialised
  StackId stack;
  Tid thread;
};
constexpr u32 kNoted = 512;
Noted noted[kNoted];

Noted& noted_of(const void* object) {
  return noted[mix(address_of(object)) % kNoted];
}
const Noted* find(const void* object, bool destroyed) {
  const Noted& entry = noted_of(object);
  return entry.object == address_of(object) && entry.destroyed == destroyed ? &entry : nullptr;
}

/// The calling thread, if its errors are looked for.
Thread* watched() {
  if (DURESS_LIKELY(g_memory_guard == nullptr) || !controlled()) return nullptr;
  Thread* t = current_thread();
  return t && !t->in_runtime ? t : nullptr;
}

void note(Thread& t, const void* object, bool destroyed, uptr pc) {
  noted_of(object) = {address_of(object), destroyed, g_runtime->context(t, pc), t.tid};
}

[[noreturn]] void fail(Thread& t, trail::Outcome outcome, const void* object, const Noted* before, uptr pc) {
  MemoryError error = {};
  error.outcome = outcome;
  const bool uses = outcome == trail::Outcome::kUseAfterDestroy;
  error.kind = uses ? AccessKind::kRead : AccessKind::kWrite;
  error.place = {uses ? kLibraryReadSite : kLibraryWriteSite, g_runtime->context(t, pc)};
  error.address = address_of(object);
  if (before) {
    error.freed = true;
    error.freed_at = before->stack;
    error.freed_by = before->thread;
  }
  memory_error(error);
}

/// The C library marks a mutex so when it destroys it.
bool is_destroyed(const pthread_mutex_t* mutex) {
  return mutex->__data.__kind == -1;
}

void check_init(Thread& t, const void* object, bool in_use, bool exists, uptr pc) {
  const Noted* before = find(object, /*destroyed=*/false);
  if (in_use || (exists && before && is_variable_of_executable(object)))
    fail(t, trail::Outcome::kInitialisedTwice, object, before, pc);
  note(t, object, /*destroyed=*/false, pc);
}

}  // namespace

bool is_variable_of_executable(const void* object) {
  const uptr address = address_of(object);
  return address >= address_of(__executable_start) && address < address_of(_end);
}

void check_mutex_use(const pthread_mutex_t* mutex, uptr pc) {
  Thread* t = watched();
  if (DURESS_LIKELY(!t) || !is_destroyed(mutex)) return;
  if (const Noted* before = find(mutex, /*destroyed=*/true))
    fail(*t, trail::Outcome::kUseAfterDestroy, mutex, before, pc);
}

void check_mutex_init(const pthread_mutex_t* mutex, uptr pc) {
  Thread* t = watched();
  if (t) check_init(*t, mutex, scheduler().holder_of(address_of(mutex)) != nullptr, !is_destroyed(mutex), pc);
}

void check_mutex_destroy(const pthread_mutex_t* mutex, uptr pc) {
  Thread* t = watched();
  if (!t) return;
  check_mutex_use(mutex, pc);
  if (scheduler().holder_of(address_of(mutex))) fail(*t, trail::Outcome::kDestroyedInUse, mutex, nullptr, pc);
  note(*t, mutex, /*destroyed=*/true, pc);
}

void check_barrier_use(const pthread_barrier_t* barrier, BarrierState state, uptr pc) {
  Thread* t = watched();
  const Noted* before = t && !state.exists ? find(barrier, /*destroyed=*/true) : nullptr;
  if (before) fail(*t, trail::Outcome::kUseAfterDestroy, barrier, before, pc);
}

void check_barrier_init(const pthread_barrier_t* barrier, BarrierState state, uptr pc) {
  if (Thread* t = watched()) check_init(*t, barrier, state.waited_for, state.exists, pc);
}

void check_barrier_destroy(const pthread_barrier_t* barrier, BarrierState state, uptr pc) {
  Thread* t = watched();
  if (!t) return;
  check_barrier_use(barrier, state, pc);
  if (state.waited_for) fail(*t, trail::Outcome::kDestroyedInUse, barrier, nullptr, pc);
  note(*t, barrier, /*destroyed=*/true, pc);
}

}  // namespace duress
