// SPDX-License-Identifier: Apache-2.0
#include "runtime/faithful_access.h"

#include "runtime/memory_guard.h"
#include "runtime/runtime.h"

namespace duress {

bool report_access(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  bool point = false;
  if (controlled()) {
    CallerFrame caller(t_hook_frame);
    point = control_access(p, size, is_write(kind), site);
  }
  Thread* t = current_thread_or_adopt();
  if (DURESS_UNLIKELY(g_memory_listener != nullptr) && !t) guard_plain(p, size, is_write(kind), site);
  if (!t || t->in_runtime || t->fasttrack.ignore) return point;
  Runtime& rt = *g_runtime;
  if (!rt.checking) {
    if (DURESS_UNLIKELY(g_memory_guard != nullptr) && controlled())
      g_memory_guard->access(t, p, size, kind, site);
    t->clock.tick_if_released();  // the memory model needs the access's own epoch
    return point;
  }
  enter_runtime(t);
  Place place{rt.modules.site_id(site), rt.context(*t)};
  if (rt.direct) {
    t->fasttrack.every_access = true;
    rt.fasttrack.access(t->fasttrack, reinterpret_cast<uptr>(p), size, is_write(kind), place);
  } else {
    rt.chain.access(t->view, {reinterpret_cast<uptr>(p), static_cast<u32>(size), kind, place});
  }
  t->in_runtime = false;
  // After the race, which is one whatever the memory error makes of it.
  if (DURESS_UNLIKELY(g_memory_guard != nullptr) && controlled())
    g_memory_guard->access(t, p, size, kind, site);
  return point;
}

void replace_loaded(const void* p, u32 size, const DuressSite* site, void* value) {
  Thread* t = current_thread();
  if (!t || t->in_runtime || !controlled()) return;
  t->in_runtime = true;
  g_adversary->loaded(*t, p, size, site, value);
  t->in_runtime = false;
}

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

bool store_by_model(void* p, u64 size, const DuressSite* site, memory::Source value) {
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr)) return store_in_parallel(p, size, site, value);
  Thread* t = current_thread();
  if (!t || t->in_runtime || !controlled() || !size) return false;
  t->in_runtime = true;
  g_adversary->storing(*t, p, size, site, value);
  t->in_runtime = false;
  return false;
}

}  // namespace duress
