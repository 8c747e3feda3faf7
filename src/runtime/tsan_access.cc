// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer's hooks of plain accesses and of function entry and exit (tsan_hooks.h).
#include <string.h>

#include "runtime/access_observer.h"
#include "runtime/checked_access.h"
#include "runtime/faithful_access.h"
#include "runtime/rc11.h"
#include "runtime/tsan_hooks.h"

extern "C" void __duress_range_read(const void* p, duress::u64 n, const DuressSite* s);  // hooks_checked.cc
extern "C" void __duress_range_write(const void* p, duress::u64 n, const DuressSite* s);

namespace duress {

constinit TsanMode g_tsan_mode = TsanMode::kAsleep;

namespace {

constexpr DuressSite kNowhere = {};

void number_site(const DuressSite* site, bool first) {
  if (first) g_runtime->modules.number_code_sites();
  g_runtime->points.add_code_site(g_runtime->modules.code_sites().begin(), site);
}

/// The access follows, so memory still holds what a read will see.
u64 value_at(const void* p, u64 size) {
  u64 value = 0;
  memcpy(&value, p, size <= sizeof value ? size : 0);
  return value;
}

void forget_history(const void* p, u64 size) {
  uptr begin = address_of(p), end = begin + size;
  if (g_adversary) g_adversary->forget(begin, end);
  if (g_parallel_adversary) g_parallel_adversary->forget(begin, end);
}

/// As the hooks of faithful bodies; but the program performs the access, after this.
void every_access(const void* p, u64 size, bool write, uptr pc) {
  if (!size) return;
  const DuressSite* site = tsan_site(pc, write ? kDuressWrite : kDuressRead, size <= 16 ? size : 0);
  if (!g_observe_plain) return observe_access(p, size, write, site);
  if (DURESS_UNLIKELY(g_note_caller)) t_hook_caller = pc;
  t_hook_frame = 0;  // not known here
  bool point = report_access(p, size, write ? AccessKind::kWrite : AccessKind::kRead, site);
  // What it writes is not known: what the memory model remembers of these bytes is no longer true.
  if (write && replaces_memory()) forget_history(p, size);
  if (!point) return;
  if (scheduler().is_systematic()) {
    const Operation operation = {OpKind::kSystem, 0, address_of(p), 0, pc};
    if (size > 8) scheduler().limit(exhaustive::StepLog::kWideAccess, operation);
    // The model neither sees nor replaces the value.
    if (g_rc11) scheduler().limit(exhaustive::StepLog::kUnseenWrite, operation);
  }
  control_done(write);
  control_trace_value(write ? 0 : value_at(p, size), write || size > 8 ? 16 : static_cast<u32>(size));
}

/// Whether the calls on the stack are these.
bool is_stack(const Thread& t, StackId stack) {
  const DuressFrame* top = __duress_self.frames;
  u64 depth = static_cast<u64>(top - t.frames_begin);
  return depth - 1 < t.frames_bytes / sizeof(DuressFrame) && top[-1].node == raw(stack);
}

/// Places that access this part of a cell, and one that shares their row.
inline AccessRun* runs_of(Thread& t, uptr pc, uptr address) {
  u64 row = (pc * 0x9e3779b97f4a7c15u >> 32) + (address & 7);  // the bytes of a word are in rows of their own
  return t.fasttrack.runs[row % FastTrackThread::kRuns];
}
inline uptr run_key(uptr pc, uptr address) {
  return pc | (address & 7) << 56;
}

/// What is known of a place in the code.
AccessRun& run_of(Thread& t, uptr pc, uptr address, DuressAccess access, u8 size) {
  AccessRun* row = runs_of(t, pc, address);
  uptr key = run_key(pc, address);
  if (row[0].key == key) return row[0];
  if (row[1].key == key) return row[1];
  row[1] = row[0];
  row[0] = {};
  row[0].site = g_runtime->modules.code_site_id(tsan_site(pc, access, size));
  row[0].key = key;
  return row[0];
}

template <u32 kSize, bool kWrite>
__attribute__((noinline)) void other_access(const void* p, uptr pc) {
  constexpr DuressAccess kAccess = kWrite ? kDuressWrite : kDuressRead;
  Thread* t = current_thread_or_adopt();
  if (!t || t->in_runtime) return;
  if constexpr (kSize > 8) {
    check_one<kSize, kWrite>(p, g_runtime->modules.code_site_id(tsan_site(pc, kAccess, kSize)));
  } else {
    AccessRun& run = run_of(*t, pc, reinterpret_cast<uptr>(p), kAccess, kSize);
    // Remembering takes time, too: only if the place is seen again in one epoch.
    auto epoch = static_cast<u32>(t->fasttrack.epoch);
    bool again = run.seen == epoch;
    run.seen = epoch;
    check_one<kSize, kWrite>(p, run.site, again ? &run : nullptr);
  }
}

/// The first access of an epoch. A loop over an array comes here for each element, where the pass' code asks
/// for all of them at once; so it first tries to repeat what was done to the element before. It calls nothing
/// and so saves few registers.
template <u32 kSize, bool kWrite>
__attribute__((noinline)) void first_access(const void* p, uptr pc) {
  Thread* t = current_thread();
  auto address = reinterpret_cast<uptr>(p);
  if (DURESS_LIKELY(kSize <= 8 && t && !t->in_runtime && (address & 7) + kSize <= 8)) {
    const AccessRun* run = runs_of(*t, pc, address);
    uptr key = run_key(pc, address);
    if (run->key != key) ++run;
    if (run->key == key && run->id && is_stack(*t, run->stack)) {
      auto mask = static_cast<u8>(((1u << kSize) - 1) << (address & 7));
      t->in_runtime = true;
      bool done = g_runtime->fasttrack.repeat<kWrite>(t->fasttrack, address, mask, *run);
      t->in_runtime = false;
      if (DURESS_LIKELY(done)) return;
    }
  }
  other_access<kSize, kWrite>(p, pc);
}

template <u32 kSize, bool kWrite>
__attribute__((always_inline)) inline void access(const void* p, uptr pc) {
  if (DURESS_LIKELY(g_tsan_mode == TsanMode::kFirsts)) {
    if (!in_filter<kSize, kWrite>(p)) first_access<kSize, kWrite>(p, pc);
  } else if (g_tsan_mode == TsanMode::kEvery) {
    every_access(p, kSize, kWrite, pc);
  }
}

void range(const void* p, u64 size, bool write, uptr pc) {
  if (g_tsan_mode == TsanMode::kAsleep) return;
  if (g_tsan_mode == TsanMode::kEvery) return every_access(p, size, write, pc);
  const DuressSite* site = tsan_site(pc, write ? kDuressWrite : kDuressRead, 0);
  if (site == &kNowhere) return;
  write ? __duress_range_write(p, size, site) : __duress_range_read(p, size, site);
}

}  // namespace

void tsan_hooks_wake(Runtime& rt, bool every) {
  rt.modules.code_sites().on_new = number_site;
  g_tsan_mode = every ? TsanMode::kEvery : TsanMode::kFirsts;
}

const DuressSite* tsan_site(uptr pc, DuressAccess access, u8 size) {
  if (!g_runtime) return &kNowhere;
  Thread* t = current_thread();
  if (t && t->in_runtime) return &kNowhere;
  if (t) t->in_runtime = true;  // a signal handler must not wait for the lock that its thread holds
  const DuressSite* site = g_runtime->modules.code_sites().find(pc, static_cast<u8>(access), size);
  if (t) t->in_runtime = false;
  return site;
}

}  // namespace duress

using namespace duress;

DURESS_EXPORT void __tsan_init() {}

#define DURESS_TSAN_ACCESS(name, N)                     \
  DURESS_EXPORT void __tsan_##name##read##N(void* p) {  \
    access<N, false>(p, DURESS_CALLER_PC);              \
  }                                                     \
  DURESS_EXPORT void __tsan_##name##write##N(void* p) { \
    access<N, true>(p, DURESS_CALLER_PC);               \
  }
#define DURESS_TSAN_PLAIN(N)                         \
  DURESS_TSAN_ACCESS(, N)                            \
  DURESS_TSAN_ACCESS(volatile_, N)                   \
  DURESS_EXPORT void __tsan_read_write##N(void* p) { \
    access<N, true>(p, DURESS_CALLER_PC);            \
  }
#define DURESS_TSAN_UNALIGNED(N)                               \
  DURESS_TSAN_ACCESS(unaligned_, N)                            \
  DURESS_TSAN_ACCESS(unaligned_volatile_, N)                   \
  DURESS_EXPORT void __tsan_unaligned_read_write##N(void* p) { \
    access<N, true>(p, DURESS_CALLER_PC);                      \
  }
DURESS_TSAN_PLAIN(1)
DURESS_TSAN_PLAIN(2)
DURESS_TSAN_PLAIN(4)
DURESS_TSAN_PLAIN(8)
DURESS_TSAN_PLAIN(16)
DURESS_TSAN_UNALIGNED(2)
DURESS_TSAN_UNALIGNED(4)
DURESS_TSAN_UNALIGNED(8)
DURESS_TSAN_UNALIGNED(16)

DURESS_EXPORT void __tsan_read_range(void* p, u64 size) {
  range(p, size, false, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_write_range(void* p, u64 size) {
  range(p, size, true, DURESS_CALLER_PC);
}

DURESS_EXPORT void __tsan_vptr_read(void** p) {
  access<8, false>(p, DURESS_CALLER_PC);
}
/// Destructors store the same value again while other threads make virtual calls.
DURESS_EXPORT void __tsan_vptr_update(void** p, void* value) {
  if (*p != value) access<8, true>(p, DURESS_CALLER_PC);
}

DURESS_EXPORT void* __tsan_memcpy(void* to, const void* from, u64 size) {
  range(from, size, false, DURESS_CALLER_PC);
  range(to, size, true, DURESS_CALLER_PC);
  return memcpy(to, from, size);
}
DURESS_EXPORT void* __tsan_memmove(void* to, const void* from, u64 size) {
  range(from, size, false, DURESS_CALLER_PC);
  range(to, size, true, DURESS_CALLER_PC);
  return memmove(to, from, size);
}
DURESS_EXPORT void* __tsan_memset(void* to, int byte, u64 size) {
  range(to, size, true, DURESS_CALLER_PC);
  return memset(to, byte, size);
}

// A frame that would not fit is not pushed: what returns later pops what is there, so it is too few, not too
// many.
DURESS_EXPORT void __tsan_func_entry(void* return_address) {
  Thread* t = current_thread();
  if (!t) return;
  DuressFrame*& top = __duress_self.frames;
  if (static_cast<u64>(top + 1 - t->frames_begin) * sizeof(DuressFrame) > t->frames_bytes) return;
  *top++ = {reinterpret_cast<u64>(return_address), 0};
}
DURESS_EXPORT void __tsan_func_exit() {
  Thread* t = current_thread();
  if (t && __duress_self.frames > t->frames_begin) --__duress_self.frames;
}

DURESS_EXPORT void __tsan_external_read(void* p, void* caller, void*) {
  access<1, false>(p, reinterpret_cast<uptr>(caller));
}
DURESS_EXPORT void __tsan_external_write(void* p, void* caller, void*) {
  access<1, true>(p, reinterpret_cast<uptr>(caller));
}
