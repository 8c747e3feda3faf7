// SPDX-License-Identifier: Apache-2.0
//
// What programs tell ThreadSanitizer about themselves: <sanitizer/tsan_interface.h>, and the older dynamic
// annotations, whose functions many projects define themselves (then theirs are used: these are weak).
#include "runtime/control.h"
#include "runtime/tsan_hooks.h"

using namespace duress;

extern "C" void __duress_annotate_ignore(int begin);  // annotations.cc

// ---- <sanitizer/tsan_interface.h>

DURESS_EXPORT void __tsan_acquire(void* p) {
  sync_acquire(p, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_release(void* p) {
  sync_release_join(p, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_ignore_thread_begin() {
  __duress_annotate_ignore(1);
}
DURESS_EXPORT void __tsan_ignore_thread_end() {
  __duress_annotate_ignore(0);
}

namespace {
enum MutexFlags : unsigned { kReadLock = 1u << 3, kTryFailed = 1u << 5 };
}

// The lock's own code runs between pre and post: how it synchronises is its own matter.
DURESS_EXPORT void __tsan_mutex_create(void* lock, unsigned) {
  sync_forget(lock);
}
DURESS_EXPORT void __tsan_mutex_destroy(void* lock, unsigned) {
  sync_forget(lock);
}
DURESS_EXPORT void __tsan_mutex_pre_lock(void*, unsigned) {
  __duress_annotate_ignore(1);
}
DURESS_EXPORT void __tsan_mutex_post_lock(void* lock, unsigned flags, int) {
  __duress_annotate_ignore(0);
  if (!(flags & kTryFailed)) sync_locked(lock, (flags & kReadLock) != 0, DURESS_CALLER_PC);
}
DURESS_EXPORT int __tsan_mutex_pre_unlock(void* lock, unsigned flags) {
  sync_unlocking(lock, (flags & kReadLock) != 0, DURESS_CALLER_PC);
  __duress_annotate_ignore(1);
  return 1;
}
DURESS_EXPORT void __tsan_mutex_post_unlock(void*, unsigned) {
  __duress_annotate_ignore(0);
}
DURESS_EXPORT void __tsan_mutex_pre_signal(void*, unsigned) {
  __duress_annotate_ignore(1);
}
DURESS_EXPORT void __tsan_mutex_post_signal(void*, unsigned) {
  __duress_annotate_ignore(0);
}
// In between the thread does something that is not a part of the lock's own code.
DURESS_EXPORT void __tsan_mutex_pre_divert(void*, unsigned) {
  __duress_annotate_ignore(0);
}
DURESS_EXPORT void __tsan_mutex_post_divert(void*, unsigned) {
  __duress_annotate_ignore(1);
}
DURESS_EXPORT void __tsan_check_no_mutexes_held() {}
DURESS_EXPORT void __tsan_flush_memory() {}
DURESS_EXPORT void* __tsan_external_register_tag(const char*) {
  static char tag;
  return &tag;
}
DURESS_EXPORT void __tsan_external_register_header(void*, const char*) {}
DURESS_EXPORT void __tsan_external_assign_tag(void*, void*) {}

// ---- dynamic annotations

#define DURESS_ANNOTATION(name, ...) \
  DURESS_EXPORT __attribute__((weak)) void Annotate##name(const char*, int, ##__VA_ARGS__)

DURESS_ANNOTATION(HappensBefore, uptr p) {
  sync_release_join(reinterpret_cast<void*>(p), DURESS_CALLER_PC);
}
DURESS_ANNOTATION(HappensAfter, uptr p) {
  sync_acquire(reinterpret_cast<void*>(p), DURESS_CALLER_PC);
}
DURESS_ANNOTATION(IgnoreReadsBegin) {
  __duress_annotate_ignore(1);
}
DURESS_ANNOTATION(IgnoreReadsEnd) {
  __duress_annotate_ignore(0);
}
DURESS_ANNOTATION(IgnoreWritesBegin) {
  __duress_annotate_ignore(1);
}
DURESS_ANNOTATION(IgnoreWritesEnd) {
  __duress_annotate_ignore(0);
}
DURESS_ANNOTATION(IgnoreSyncBegin) {}
DURESS_ANNOTATION(IgnoreSyncEnd) {}
DURESS_ANNOTATION(RWLockCreate, uptr lock) {
  sync_forget(reinterpret_cast<void*>(lock));
}
DURESS_ANNOTATION(RWLockCreateStatic, uptr) {}
DURESS_ANNOTATION(RWLockDestroy, uptr lock) {
  sync_forget(reinterpret_cast<void*>(lock));
}
DURESS_ANNOTATION(RWLockAcquired, uptr lock, uptr writes) {
  sync_locked(reinterpret_cast<void*>(lock), writes == 0, DURESS_CALLER_PC);
}
DURESS_ANNOTATION(RWLockReleased, uptr lock, uptr writes) {
  sync_unlocking(reinterpret_cast<void*>(lock), writes == 0, DURESS_CALLER_PC);
}
DURESS_ANNOTATION(NewMemory, uptr p, uptr size) {
  memory_mapped(reinterpret_cast<void*>(p), size);
}
DURESS_ANNOTATION(ThreadName, const char* name) {
  thread_named(nullptr, name);
}
DURESS_EXPORT __attribute__((weak)) int RunningOnValgrind() {
  return 0;
}
