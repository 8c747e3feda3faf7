// SPDX-License-Identifier: Apache-2.0
//
// Schedule points of memory accesses, and what the scheduler asks about a strand's state there.
#include <malloc.h>
#include <pthread.h>

#include "runtime/access_watch.h"
#include "runtime/adversary.h"
#include "runtime/control.h"
#include "runtime/memory_guard.h"
#include "runtime/plain_reads.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"
#include "trail/site_key.h"

namespace duress {
namespace {

/// See trail::Points::kLongRuns and Request::wait_sites.
void end_long_run(bool write, const DuressSite* site) {
  constexpr u32 kLongRun = 20'000;  // about a millisecond
  static u64 steps = 0;
  static u32 run = 0;
  trail::Record& record = scheduler().record();
  // Another strand may wait for it, if one was made to. Else it must not count: a replay, in which this
  // access is no point, would see other strands spin where this execution did not.
  if (write && record.long_runs && !scheduler().is_systematic()) scheduler().changed();
  if (record.steps != steps) run = 0;
  steps = record.steps;
  if (++run < kLongRun) return;
  ++record.long_runs;
  scheduler().yield(reinterpret_cast<uptr>(site));
}

/// A hash of the running strand's stack above this function, including the registers saved there.
__attribute__((noinline)) u64 stack_state() {
  constexpr u64 kMost = 64 << 10;
  uptr here = reinterpret_cast<uptr>(__builtin_frame_address(0)),
       top = reinterpret_cast<uptr>(t_strand->job_frame);
  if (top < here || top - here > kMost) top = here + 2048;  // the main thread's, or a deep one: what is near
  u64 hash = 0;
  for (uptr at = here; at + 8 <= top; at += 8) hash = mix(hash ^ *reinterpret_cast<const u64*>(at)) + 1;
  return hash;
}

AccessKind access_kind(OpKind kind) {
  if (kind == OpKind::kAtomicRead) return AccessKind::kAtomicRead;
  return kind == OpKind::kAtomicWrite ? AccessKind::kAtomicWrite : AccessKind::kAtomicRmw;
}

}  // namespace

bool control_access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (g_learn_access) g_learn_access(p, size, write, site);
  if (write && scheduler().is_systematic()) {
    // What lies on its own stack is a part of its local state.
    uptr top = reinterpret_cast<uptr>(t_strand->job_frame),
         here = reinterpret_cast<uptr>(__builtin_frame_address(0));
    uptr at = address_of(p);
    if (at < here || at >= (top ? top : here + (u64{1} << 20))) scheduler().wrote_plain();
  }
  const trail::Request& request = scheduler().request();
  u32 key = g_runtime->points.point(site, p);
  if (!key && request.points != trail::Points::kAll) {
    if (DURESS_UNLIKELY(request.points == trail::Points::kLongRuns ||
                        (request.wait_site_count && g_runtime->points.waits(site))))
      end_long_run(write, site);
    return false;
  }
  if (!write && request.points != trail::Points::kAll && !scheduler().is_systematic() &&
      scheduler().throttle_load(reinterpret_cast<uptr>(site)))
    return false;
  if (DURESS_UNLIKELY(scheduler().suspects_livelock())) scheduler().note_state(stack_state());
  scheduler().point({write ? OpKind::kWrite : OpKind::kRead, static_cast<u32>(size), address_of(p), key,
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column});
  return true;
}

void control_free(void* p, uptr caller) {
  const uptr start = address_of(p);
  const u64 size = malloc_usable_size(p);
  if (!scheduler().is_systematic())
    return scheduler().point({OpKind::kFree, static_cast<u32>(size), start, trail::kFreeKey, caller});
  // Steps conflict within 16 bytes of memory (exhaustive::ExecutionTrace): each is a step of its own.
  constexpr u64 kBytes = 16, kMost = 256;
  if (size > kMost) scheduler().limit(exhaustive::StepLog::kWideAccess, {OpKind::kFree, 0, start, 0, caller});
  for (u64 at = 0; at == 0 || (at < size && at < kMost); at += kBytes) {
    const u64 left = size - at;
    scheduler().point(
        {OpKind::kFree, static_cast<u32>(left < kBytes ? left : kBytes), start + at, 0, caller});
  }
}

void control_atomic(const void* p, u64 size, OpKind kind, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_learn_atomic != nullptr)) g_learn_atomic(p, size, writes(kind));
  if (DURESS_UNLIKELY(g_learn_store != nullptr) && kind == OpKind::kAtomicWrite) g_learn_store(p, size);
  // Histories are of plain accesses; what an atomic writes among them is not guessed at.
  if (DURESS_UNLIKELY(g_adversary != nullptr) && writes(kind)) {
    g_adversary->forget(address_of(p), address_of(p) + size);
  }
  scheduler().point({kind, static_cast<u32>(size), address_of(p), g_runtime->points.point(site),
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column});
  if (DURESS_UNLIKELY(g_memory_guard != nullptr)) guard_atomic(p, size, access_kind(kind), site);
}

void control_compare(const void* p, u64 size, u64 expected, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_learn_atomic != nullptr)) g_learn_atomic(p, size, true);
  if (DURESS_UNLIKELY(g_adversary != nullptr)) g_adversary->forget(address_of(p), address_of(p) + size);
  scheduler().point({OpKind::kAtomicRmw, static_cast<u32>(size), address_of(p), g_runtime->points.point(site),
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column, 1, expected});
  if (DURESS_UNLIKELY(g_memory_guard != nullptr)) guard_atomic(p, size, AccessKind::kAtomicRmw, site);
}

void control_done(bool changed) {
  if (changed) scheduler().changed();
}

/// As the C library keeps it. Strands wait in the scheduler, so the library counts no waiters.
u64 control_state(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
    case OpKind::kPost:
      return *reinterpret_cast<const volatile u32*>(operation.object);
    default: {
      const auto* lock = reinterpret_cast<const pthread_rwlock_t*>(operation.object);
      if (lock->__data.__cur_writer) return exhaustive::kWriter;
      constexpr u32 kReaderShift = 3;
      return lock->__data.__readers >> kReaderShift;
    }
  }
}

u64 control_local_state(const sched::Strand& strand) {
  access_watch_compared();
  const Operation& operation = strand.next;
  return unwound_state(is_access(operation.kind) ? t_hook_caller : operation.place,
                       reinterpret_cast<uptr>(strand.job_frame));
}

}  // namespace duress
