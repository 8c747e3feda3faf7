// SPDX-License-Identifier: Apache-2.0
//
// Hooks of faithful bodies: every source-level access, performed here, so that a memory model can say
// what a load returns. Today that is always what memory holds; the events go to the analysis chain.
#include <string.h>

#include "runtime/adversary.h"
#include "runtime/control.h"
#include "runtime/hooks_atomic.h"
#include "runtime/parallel_adversary.h"
#include "runtime/runtime.h"

namespace duress {
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

/// `volatile` read as an atomic, when the user says the program leans on it.
bool atomic_volatile(const DuressSite* site, MemoryOrder load_or_store, MemoryOrder* order) {
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

inline bool replaces_memory() {
  return g_adversary != nullptr || g_parallel_adversary != nullptr;
}

/// Before a store of a whole range: true if it is done already.
bool tell_store(void* p, u64 size, const DuressSite* site, memory::Source value) {
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

template <typename T>
T load(const void* p, const DuressSite* site) {
  if (!g_plain_matters) {
    T value;
    memcpy(&value, p, sizeof value);
    return value;
  }
  MemoryOrder order;
  if (DURESS_UNLIKELY(atomic_volatile(site, MemoryOrder::kAcquire, &order)))
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
void store(void* p, T value, const DuressSite* site) {
  if (!g_plain_matters) {
    memcpy(p, &value, sizeof value);
    return;
  }
  MemoryOrder order;
  if (DURESS_UNLIKELY(atomic_volatile(site, MemoryOrder::kRelease, &order)))
    return atomic_store<T>(p, value, order, site);
  bool point = event(p, sizeof(T), AccessKind::kWrite, site);
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr) &&
      store_in_parallel(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value))))
    return;
  if (DURESS_UNLIKELY(g_adversary != nullptr)) {
    tell_store(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value)));
  }
  if (DURESS_UNLIKELY(point)) {
    control_done(memcmp(p, &value, sizeof value) != 0);
    control_trace_value(static_cast<u64>(value), sizeof value);
  }
  memcpy(p, &value, sizeof value);
}

/// Reads or writes whole ranges: what was written before is not compared.
void range(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  if (!g_plain_matters || !event(p, size, kind, site)) return;
  control_done(is_write(kind));
  control_trace_value(0, 16);
}

}  // namespace
}  // namespace duress

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
#define DURESS_ACCESS_HOOKS(N, T)                                           \
  DURESS_EXPORT T __duress_load##N(const void* p, const DuressSite* s) {    \
    return load<T>(p, s);                                                   \
  }                                                                         \
  DURESS_EXPORT void __duress_store##N(void* p, T v, const DuressSite* s) { \
    store<T>(p, v, s);                                                      \
  }
DURESS_ACCESS_HOOKS(1, u8)
DURESS_ACCESS_HOOKS(2, u16)
DURESS_ACCESS_HOOKS(4, u32)
DURESS_ACCESS_HOOKS(8, u64)
DURESS_ACCESS_HOOKS(16, u128)

DURESS_EXPORT void __duress_loadn(void* out, const void* p, u64 n, const DuressSite* s) {
  range(p, n, AccessKind::kRead, s);
  memcpy(out, p, n);
}
DURESS_EXPORT void __duress_storen(void* p, const void* in, u64 n, const DuressSite* s) {
  range(p, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && tell_store(p, n, s, memory::Source(static_cast<const u8*>(in))))
    return;
  memcpy(p, in, n);
}
DURESS_EXPORT void __duress_memcpy(void* d, const void* from, u64 n, const DuressSite* s) {
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && tell_store(d, n, s, memory::Source(static_cast<const u8*>(from))))
    return;
  memcpy(d, from, n);
}
DURESS_EXPORT void __duress_memmove(void* d, const void* from, u64 n, const DuressSite* s) {
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && tell_store(d, n, s, memory::Source(static_cast<const u8*>(from))))
    return;
  memmove(d, from, n);
}
DURESS_EXPORT void __duress_memset(void* d, u32 byte, u64 n, const DuressSite* s) {
  if (n) range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) &&
      tell_store(d, n, s, memory::Source::repeat(static_cast<u8>(byte))))
    return;
  memset(d, static_cast<int>(byte), n);
}
