// SPDX-License-Identifier: Apache-2.0
//
// Hooks of faithful bodies: every source-level access, performed here, so that a memory model can say
// what a load returns; the events go to the analysis chain.
#include <string.h>

#include "runtime/access_observer.h"
#include "runtime/adversary.h"
#include "runtime/control.h"
#include "runtime/hooks_atomic.h"
#include "runtime/parallel_adversary.h"
#include "runtime/runtime.h"
#include "runtime/what_if.h"

namespace duress {

u64* g_access_digest = nullptr;
const u64* g_access_owners = nullptr;

namespace {

/// Returns whether the access was a schedule point.
bool event(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  bool point = controlled() && control_access(p, size, is_write(kind), site);
  Thread* t = current_thread_or_adopt();
  if (!t || t->in_runtime || t->fasttrack.ignore) return point;
  Runtime& rt = *g_runtime;
  if (!rt.checking) {
    t->clock.tick_if_released();  // the memory model needs the access's own epoch
    return point;
  }
  enter_runtime(t);
  Place place{rt.modules.site_id(site), rt.context(*t)};
  if (rt.direct) {
    rt.fasttrack.access(t->fasttrack, reinterpret_cast<uptr>(p), size, is_write(kind), place);
  } else {
    rt.chain.access(t->view, {reinterpret_cast<uptr>(p), static_cast<u32>(size), kind, place});
  }
  t->in_runtime = false;
  return point;
}

/// A plain access that is treated as an atomic one: under rc11 each that is a step, because it races; and
/// `volatile`, when the user says the program leans on it.
bool treated_as_atomic(const DuressSite* site, MemoryOrder load_or_store, MemoryOrder* order) {
  if (DURESS_UNLIKELY(g_rc11 != nullptr) && controlled() && scheduler().is_systematic() &&
      g_runtime->points.point(site)) {
    *order = MemoryOrder::kRelaxed;
    return true;
  }
  if (!(site->flags & DURESS_SITE_VOLATILE) || !g_runtime || g_runtime->volatile_mode == VolatileMode::kPlain)
    return false;
  *order = g_runtime->volatile_mode == VolatileMode::kAcqRel ? load_or_store : MemoryOrder::kRelaxed;
  return true;
}

/// What the memory model returns instead of what memory holds.
void replace(const void* p, u32 size, const DuressSite* site, void* value) {
  Thread* t = current_thread();
  if (!t || t->in_runtime || !controlled()) return;
  t->in_runtime = true;
  g_adversary->loaded(*t, p, size, site, value);
  t->in_runtime = false;
}

bool store_in_parallel(void* p, u64 size, const DuressSite* site, memory::Source value);
bool steps_by_words(u64 size, const DuressSite* site);
void load_by_steps(void* into, const void* from, u64 size, const DuressSite* site);
void store_by_steps(void* to, const void* from, u64 size, const DuressSite* site);

inline bool replaces_memory() {
  return g_adversary != nullptr || g_parallel_adversary != nullptr;
}

/// Before a store of a whole range: true if it is done already.
bool store_by_model(void* p, u64 size, const DuressSite* site, memory::Source value) {
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr)) return store_in_parallel(p, size, site, value);
  Thread* t = current_thread();
  if (!t || t->in_runtime || !controlled() || !size) return false;
  t->in_runtime = true;
  g_adversary->storing(*t, p, size, site, value);
  t->in_runtime = false;
  return false;
}

/// The same while threads run in parallel: true if the load is done.
bool load_in_parallel(const void* p, u32 size, const DuressSite* site, void* value) {
  Thread* t = current_thread();
  if (!t || t->in_runtime) return false;
  t->in_runtime = true;
  bool done = g_parallel_adversary->load(*t, p, size, site, value);
  t->in_runtime = false;
  return done;
}

bool store_in_parallel(void* p, u64 size, const DuressSite* site, memory::Source value) {
  Thread* t = current_thread();
  if (!t || t->in_runtime || !size) return false;
  t->in_runtime = true;
  bool done = g_parallel_adversary->store(*t, p, size, site, value);
  t->in_runtime = false;
  return done;
}

// ---- what-if edits

/// The place of an update whose load is done: its store belongs to it.
struct Update {
  const void* p;
  u32 line;
  u16 column;
  bool is(const void* at, const DuressSite* site) const {
    return p == at && line == site->line && column == site->column;
  }
};
Update update = {};

template <typename T>
bool load_what_if(const void* p, const DuressSite* site, T* value) {
  const WhatIfSite& edits = what_if(site);
  if (edits.joins) what_if_join(site);
  if (!edits.atomic && !edits.lock) return false;
  if (edits.atomic && !edits.updates) {
    *value = atomic_load<T>(p, edits.order_of(MemoryOrder::kAcquire), site);
    return true;
  }
  if (edits.atomic) {
    control_atomic(p, sizeof(T), OpKind::kAtomicRmw, site);
    AtomicOperation operation(p, sizeof(T), true, site);
    operation.modified(edits.order_of(MemoryOrder::kAcqRel));
  } else {
    pthread_mutex_lock(edits.lock);
    event(p, sizeof(T), AccessKind::kRead, site);
  }
  memcpy(value, p, sizeof *value);
  if (edits.updates) {
    update = {p, site->line, site->column};
  } else {
    pthread_mutex_unlock(edits.lock);
  }
  return true;
}

template <typename T>
bool store_what_if(void* p, T value, const DuressSite* site) {
  const WhatIfSite& edits = what_if(site);
  if (edits.joins) what_if_join(site);
  bool second = update.is(p, site) && (edits.atomic || edits.lock);
  if (second) update = {};
  if (edits.atomic) {
    if (second) {
      memcpy(p, &value, sizeof value);
    } else {
      atomic_store<T>(p, value, edits.order_of(MemoryOrder::kRelease), site);
    }
    return true;
  }
  if (edits.lock) {
    if (!second) pthread_mutex_lock(edits.lock);
    event(p, sizeof(T), AccessKind::kWrite, site);
    memcpy(p, &value, sizeof value);
    pthread_mutex_unlock(edits.lock);
    return true;
  }
  if (!edits.publishes) return false;
  event(p, sizeof(T), AccessKind::kWrite, site);
  memcpy(p, &value, sizeof value);
  what_if_published_early();
  publish_held_back();
  return true;
}

template <typename T>
__attribute__((noinline)) T load_slow(const void* p, const DuressSite* site) {
  if (T value; DURESS_UNLIKELY(g_what_if) && controlled() && load_what_if<T>(p, site, &value)) return value;
  if (T value; sizeof(T) > 8 && steps_by_words(sizeof(T), site)) {
    load_by_steps(&value, p, sizeof value, site);
    return value;
  }
  MemoryOrder order;
  if (DURESS_UNLIKELY(treated_as_atomic(site, MemoryOrder::kAcquire, &order)))
    return atomic_load<T>(p, order, site);
  bool point = event(p, sizeof(T), AccessKind::kRead, site);
  T value;
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr) && load_in_parallel(p, sizeof value, site, &value))
    return value;
  memcpy(&value, p, sizeof value);
  if (DURESS_UNLIKELY(g_adversary != nullptr)) replace(p, sizeof value, site, &value);
  if (DURESS_UNLIKELY(point)) control_trace_value(static_cast<u64>(value), sizeof value);
  return value;
}

template <typename T>
T load(const void* p, const DuressSite* site) {
  if (g_observe_plain && !g_access_filter.ignores(p, sizeof(T), site)) return load_slow<T>(p, site);
  observe_access(p, sizeof(T), false, site);
  T value;
  memcpy(&value, p, sizeof value);
  return value;
}

template <typename T>
__attribute__((noinline)) void store_slow(void* p, T value, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_what_if) && controlled() && store_what_if<T>(p, value, site)) return;
  if (sizeof(T) > 8 && steps_by_words(sizeof(T), site)) return store_by_steps(p, &value, sizeof value, site);
  MemoryOrder order;
  if (DURESS_UNLIKELY(treated_as_atomic(site, MemoryOrder::kRelease, &order)))
    return atomic_store<T>(p, value, order, site);
  bool point = event(p, sizeof(T), AccessKind::kWrite, site);
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr) &&
      store_in_parallel(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value))))
    return;
  if (DURESS_UNLIKELY(g_adversary != nullptr)) {
    store_by_model(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value)));
  }
  if (DURESS_UNLIKELY(point)) {
    control_done(memcmp(p, &value, sizeof value) != 0);
    control_trace_value(static_cast<u64>(value), sizeof value);
  }
  memcpy(p, &value, sizeof value);
}

template <typename T>
void store(void* p, T value, const DuressSite* site) {
  if (g_observe_plain && !g_access_filter.ignores(p, sizeof(T), site)) return store_slow<T>(p, value, site);
  observe_access(p, sizeof(T), true, site);
  memcpy(p, &value, sizeof value);
}

/// Calls body(offset, bytes) for each word of memory: wider values may tear.
template <typename Body>
void each_word(const void* p, u64 size, Body body) {
  constexpr u64 kWord = 8;
  for (u64 at = 0; at < size;) {
    u64 room = kWord - ((address_of(p) + at) & (kWord - 1));
    auto piece = static_cast<u32>(room < size - at ? room : size - at);
    body(at, piece);
    at += piece;
  }
}

/// Structs and the like, loaded as a whole: word by word. `into` is nowhere in what is read.
void load_words(void* into, const void* from, u64 size, const DuressSite* site) {
  auto* out = static_cast<u8*>(into);
  const auto* in = static_cast<const u8*>(from);
  each_word(from, size, [&](u64 at, u32 piece) {
    if (g_parallel_adversary && load_in_parallel(in + at, piece, site, out + at)) return;
    memcpy(out + at, in + at, piece);
    if (g_adversary) replace(in + at, piece, site, out + at);
  });
}

/// A longer copy is of a buffer rather than of an object: each word of it would be a choice.
constexpr u64 kMostCopied = 256;

/// A copy while a memory model decides what loads return: true if it is done.
bool copy_by_model(void* to, const void* from, u64 size, const DuressSite* site) {
  if (size > kMostCopied || !g_runtime->points.point(site))
    return store_by_model(to, size, site, memory::Source(static_cast<const u8*>(from)));
  u8 value[kMostCopied];
  load_words(value, from, size, site);
  if (!store_by_model(to, size, site, memory::Source(value))) memcpy(to, value, size);
  return true;
}

/// Reads or writes whole ranges: what was written before is not compared.
void range(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_what_if) && controlled()) what_if_join(site);
  if (!g_observe_plain) return observe_access(p, size, is_write(kind), site);
  if (!event(p, size, kind, site)) return;
  control_done(is_write(kind));
  control_trace_value(0, 16);
}

// ---- steps

/// Whether a wide access is a step of a systematic execution. Then each word is a step of its own.
bool steps_by_words(u64 size, const DuressSite* site) {
  if (!controlled() || !scheduler().is_systematic() || !g_runtime->points.point(site)) return false;
  u32& limits = scheduler().step_log().limits;
  if (g_rc11) limits |= exhaustive::StepLog::kHistory;  // the model does not see what they write
  if (size <= kMostCopied) return true;
  limits |= exhaustive::StepLog::kWideAccess;
  return false;
}

void load_by_steps(void* into, const void* from, u64 size, const DuressSite* site) {
  const auto* in = static_cast<const u8*>(from);
  each_word(from, size, [&](u64 at, u32 piece) {
    range(in + at, piece, AccessKind::kRead, site);
    memcpy(static_cast<u8*>(into) + at, in + at, piece);
  });
}

void store_by_steps(void* to, const void* from, u64 size, const DuressSite* site) {
  auto* out = static_cast<u8*>(to);
  each_word(to, size, [&](u64 at, u32 piece) {
    range(out + at, piece, AccessKind::kWrite, site);
    memcpy(out + at, static_cast<const u8*>(from) + at, piece);
  });
}

void copy_by_steps(void* to, const void* from, u64 size, const DuressSite* site) {
  u8 value[kMostCopied];
  load_by_steps(value, from, size, site);
  store_by_steps(to, value, size, site);
}

}  // namespace
}  // namespace duress

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
/// The access may be a step of a loop that waits.
#define DURESS_NOTE_CALLER() \
  if (DURESS_UNLIKELY(g_note_caller)) t_hook_caller = DURESS_CALLER_PC
#define DURESS_ACCESS_HOOKS(N, T)                                           \
  DURESS_EXPORT T __duress_load##N(const void* p, const DuressSite* s) {    \
    DURESS_NOTE_CALLER();                                                   \
    return load<T>(p, s);                                                   \
  }                                                                         \
  DURESS_EXPORT void __duress_store##N(void* p, T v, const DuressSite* s) { \
    DURESS_NOTE_CALLER();                                                   \
    store<T>(p, v, s);                                                      \
  }
DURESS_ACCESS_HOOKS(1, u8)
DURESS_ACCESS_HOOKS(2, u16)
DURESS_ACCESS_HOOKS(4, u32)
DURESS_ACCESS_HOOKS(8, u64)
DURESS_ACCESS_HOOKS(16, u128)

DURESS_EXPORT void __duress_loadn(void* out, const void* p, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return load_by_steps(out, p, n, s);
  range(p, n, AccessKind::kRead, s);
  if (DURESS_UNLIKELY(replaces_memory()) && n <= kMostCopied) return load_words(out, p, n, s);
  memcpy(out, p, n);
}
DURESS_EXPORT void __duress_storen(void* p, const void* in, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return store_by_steps(p, in, n, s);
  range(p, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) &&
      store_by_model(p, n, s, memory::Source(static_cast<const u8*>(in))))
    return;
  memcpy(p, in, n);
}
DURESS_EXPORT void __duress_memcpy(void* d, const void* from, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return copy_by_steps(d, from, n, s);
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && copy_by_model(d, from, n, s)) return;
  memcpy(d, from, n);
}
DURESS_EXPORT void __duress_memmove(void* d, const void* from, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return copy_by_steps(d, from, n, s);
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && copy_by_model(d, from, n, s)) return;
  memmove(d, from, n);
}
DURESS_EXPORT void __duress_memset(void* d, u32 byte, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) {
    u8 value[kMostCopied];
    memset(value, static_cast<int>(byte), n);
    return store_by_steps(d, value, n, s);
  }
  if (n) range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) &&
      store_by_model(d, n, s, memory::Source::repeat(static_cast<u8>(byte))))
    return;
  memset(d, static_cast<int>(byte), n);
}
