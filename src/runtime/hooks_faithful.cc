// SPDX-License-Identifier: Apache-2.0
//
// Hooks of faithful bodies: every source-level access of a scalar, performed here, so that a memory model can
// say what a load returns; the events go to the analysis chain. Structs and ranges are in hooks_ranges.cc.
#include <string.h>

#include "runtime/access_observer.h"
#include "runtime/faithful_access.h"
#include "runtime/hooks_atomic.h"
#include "runtime/runtime.h"
#include "runtime/what_if_access.h"

namespace duress {

u64* g_access_digest = nullptr;
const u64* g_access_owners = nullptr;

namespace {

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

/// A load of a variable under attack while threads run in parallel, as it was made before.
template <typename T>
bool load_again(const void* p, const DuressSite* site, T* value) {
  if constexpr (sizeof(T) <= 8) {
    if (DURESS_LIKELY(g_parallel_adversary == nullptr)) return false;
    Thread* t = current_thread();
    if (!t || t->in_runtime || !g_access_filter.names(site)) return false;
    t->in_runtime = true;
    bool done = g_parallel_adversary->load_again(*t, p, value);
    t->in_runtime = false;
    return done;
  }
  return false;
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
  bool point = report_access(p, sizeof(T), AccessKind::kRead, site);
  T value;
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr) && load_in_parallel(p, sizeof value, site, &value))
    return value;
  memcpy(&value, p, sizeof value);
  if (DURESS_UNLIKELY(g_adversary != nullptr)) replace_loaded(p, sizeof value, site, &value);
  if (DURESS_UNLIKELY(point))
    control_trace_value(static_cast<u64>(value), sizeof value);
  else if (DURESS_UNLIKELY(g_trace_plain != nullptr))
    g_trace_plain(p, sizeof value, false, static_cast<u64>(value), site);
  return value;
}

template <typename T>
T load(const void* p, const DuressSite* site) {
  if (g_observe_plain && !g_access_filter.ignores(p, sizeof(T), site)) {
    T value;
    return load_again(p, site, &value) ? value : load_slow<T>(p, site);
  }
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
  bool point = report_access(p, sizeof(T), AccessKind::kWrite, site);
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr) &&
      store_in_parallel(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value))))
    return;
  if (DURESS_UNLIKELY(g_adversary != nullptr)) {
    store_by_model(p, sizeof value, site, memory::Source(reinterpret_cast<const u8*>(&value)));
  }
  if (DURESS_UNLIKELY(point)) {
    control_done(memcmp(p, &value, sizeof value) != 0);
    control_trace_value(static_cast<u64>(value), sizeof value);
  } else if (DURESS_UNLIKELY(g_trace_plain != nullptr)) {
    g_trace_plain(p, sizeof value, true, static_cast<u64>(value), site);
  }
  memcpy(p, &value, sizeof value);
}

template <typename T>
void store(void* p, T value, const DuressSite* site) {
  if (g_observe_plain && !g_access_filter.ignores(p, sizeof(T), site)) return store_slow<T>(p, value, site);
  observe_access(p, sizeof(T), true, site);
  memcpy(p, &value, sizeof value);
}

}  // namespace
}  // namespace duress

using namespace duress;

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
