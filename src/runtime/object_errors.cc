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
  u32 execution;   // of duress::check
  StackId stack;
  Tid thread;
};
constexpr u32 kNoted = 512;
Noted noted[kNoted];
u32 execution = 0;

Noted& noted_of(const void* object) {
  return noted[mix(address_of(object)) % kNoted];
}
const Noted* find(const void* object, bool destroyed) {
  const Noted& entry = noted_of(object);
  return entry.object == address_of(object) && entry.destroyed == destroyed && entry.execution == execution
             ? &entry
             : nullptr;
}

bool is_watched(Thread** t) {
  return DURESS_UNLIKELY(g_memory_guard != nullptr) && is_guarded(t);
}
StackId context_of(Thread* t, uptr pc) {
  return t ? g_runtime->context(*t, pc) : g_runtime->stacks.push(StackId{0}, pc);
}

void note(Thread* t, const void* object, bool destroyed, uptr pc) {
  noted_of(object) = {address_of(object), destroyed, execution, context_of(t, pc), t ? t->tid : Tid{0}};
}

[[noreturn]] void fail(Thread* t, trail::Outcome outcome, const void* object, const Noted* before, uptr pc) {
  MemoryError error = {};
  error.outcome = outcome;
  const bool uses = outcome == trail::Outcome::kUseAfterDestroy;
  error.kind = uses ? AccessKind::kRead : AccessKind::kWrite;
  error.place = {uses ? kLibraryReadSite : kLibraryWriteSite, context_of(t, pc)};
  error.address = address_of(object);
  if (before) {
    error.freed = true;
    error.freed_at = before->stack;
    error.freed_by = before->thread;
  }
  memory_error(error);
}

/// Of a destroyed read-write lock. No attribute has it.
constexpr unsigned kDestroyedLock = 0xdead;
}  // namespace

bool is_variable_of_executable(const void* object) {
  const uptr address = address_of(object);
  return address >= address_of(__executable_start) && address < address_of(_end);
}

bool watches_objects() {
  Thread* t;
  return is_watched(&t);
}

void object_execution_begins() {
  ++execution;
}

ObjectState state_of(const pthread_mutex_t* mutex) {
  constexpr int kDestroyed = -1;  // the C library marks it so
  return {mutex->__data.__kind != kDestroyed, scheduler().holder_of(address_of(mutex)) != nullptr};
}

ObjectState state_of(const pthread_rwlock_t* lock) {
  const uptr address = address_of(lock);
  return {lock->__data.__flags != kDestroyedLock,
          scheduler().holder_of(address) != nullptr || scheduler().is_waited_at(address)};
}

bool is_read(const pthread_rwlock_t* lock) {
  constexpr unsigned kReaderShift = 3;
  return lock->__data.__readers >> kReaderShift != 0;
}

void mark_destroyed(pthread_rwlock_t* lock) {
  if (watches_objects()) lock->__data.__flags = kDestroyedLock;
}

ObjectState state_of(const pthread_cond_t* condition) {
  constexpr unsigned kDestroyed = 4;  // the C library marks it so
  return {(condition->__data.__wrefs & kDestroyed) == 0, scheduler().is_waited_at(address_of(condition))};
}

/// A semaphore is never made by an assignment.
ObjectState state_of(const sem_t* semaphore) {
  return {!find(semaphore, /*destroyed=*/true), scheduler().is_waited_at(address_of(semaphore))};
}

void check_object_use(const void* object, ObjectState state, uptr pc) {
  Thread* t;
  if (!is_watched(&t)) return;
  const Noted* before = !state.exists ? find(object, /*destroyed=*/true) : nullptr;
  if (before) fail(t, trail::Outcome::kUseAfterDestroy, object, before, pc);
}

void check_object_init(const void* object, ObjectState state, uptr pc) {
  Thread* t;
  if (!is_watched(&t)) return;
  const Noted* before = find(object, /*destroyed=*/false);
  if (state.in_use || (state.exists && before && is_variable_of_executable(object)))
    fail(t, trail::Outcome::kInitialisedTwice, object, before, pc);
  note(t, object, /*destroyed=*/false, pc);
}

void check_object_destroy(const void* object, ObjectState state, uptr pc) {
  Thread* t;
  if (!is_watched(&t)) return;
  check_object_use(object, state, pc);
  if (state.in_use) fail(t, trail::Outcome::kDestroyedInUse, object, nullptr, pc);
  note(t, object, /*destroyed=*/true, pc);
}

}  // namespace duress
