// SPDX-License-Identifier: Apache-2.0
//
// A heap that the program manages itself and whose collector moves objects: what ThreadSanitizer offers to
// virtual machines (__tsan_java_...). Objects that move are new objects at their new place: accesses before
// and after a move are not compared, but locks and what else synchronises keep their order.
#include "base/raw.h"
#include "runtime/tsan_hooks.h"

namespace duress {
namespace {

/// The sizes of live objects, by where they begin.
/// Threads: the program allocates from any; its collector is alone.
struct JavaHeap {
  uptr begin = 0, end = 0;
  u64* sizes = nullptr;  // for each eight bytes; 0: no object begins here

  u64* size_at(uptr p) const { return p >= begin && p < end && sizes ? &sizes[(p - begin) / 8] : nullptr; }
  void set(uptr p, u64 size) const {
    if (u64* at = size_at(p)) __atomic_store_n(at, size, __ATOMIC_RELAXED);
  }
};
constinit JavaHeap heap;

void* pointer(uptr address) {
  return reinterpret_cast<void*>(address);
}

/// Monitors that the calling thread holds more than once: unlock_rec gives all levels back at once.
struct Monitor {
  uptr address = 0;
  int depth = 0;
};
constinit thread_local Monitor t_monitors[16] __attribute__((tls_model("initial-exec"))) = {};

/// Null: more than 16 are held.
Monitor* monitor(uptr address) {
  Monitor* unused = nullptr;
  for (Monitor& m : t_monitors) {
    if (m.depth && m.address == address) return &m;
    if (!m.depth) unused = &m;
  }
  if (unused) *unused = {address, 0};
  return unused;
}

void lock(uptr address, int levels, uptr pc) {
  if (Monitor* m = monitor(address)) m->depth += levels;
  sync_locked(pointer(address), false, pc);
}

void fresh(uptr begin, uptr size) {
  memory_mapped(pointer(begin), size);
}

/// Calls visit(offset) for each eight bytes of the heap's objects, from the end that is not overwritten.
template <typename Visit>
void each_word(uptr from, uptr to, uptr size, Visit visit) {
  for (uptr at = 0; at < size; at += 8) visit(from < to ? size - 8 - at : at);
}

/// What was released to objects in [from, from + size) is released to those at `to`; the collector, which
/// moves them, has acquired it.
void move_objects(uptr from, uptr to, uptr size, uptr pc) {
  auto* moved = static_cast<bool*>(map_memory(size / 8));
  for (uptr at = 0; moved && at < size; at += 8) {
    moved[at / 8] = g_runtime->syncs.find(from + at, 0) != nullptr;
    if (moved[at / 8]) sync_acquire(pointer(from + at), pc);
  }
  fresh(from, size);
  fresh(to, size);
  for (uptr at = 0; moved && at < size; at += 8) {
    if (moved[at / 8]) sync_release_join(pointer(to + at), pc);
  }
  if (moved) unmap_memory(moved, size / 8);
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_EXPORT void __tsan_java_init(uptr begin, uptr size) {
  heap = {begin, begin + size, static_cast<u64*>(map_memory(size))};
  if (g_runtime) fresh(begin, size);
}
DURESS_EXPORT int __tsan_java_fini() {
  return 0;
}
DURESS_EXPORT void __tsan_java_alloc(uptr p, uptr size) {
  heap.set(p, size);
  if (g_runtime) fresh(p, size);
}
DURESS_EXPORT void __tsan_java_free(uptr p, uptr size) {
  for (uptr at = p; at < p + size; at += 8) heap.set(at, 0);
  if (g_runtime) fresh(p, size);
}
DURESS_EXPORT void __tsan_java_move(uptr from, uptr to, uptr size) {
  each_word(from, to, size, [&](uptr at) {
    const u64* old = heap.size_at(from + at);
    u64 old_size = old ? *old : 0;
    heap.set(from + at, 0);
    heap.set(to + at, old_size);
  });
  if (g_runtime) move_objects(from, to, size, DURESS_CALLER_PC);
}
DURESS_EXPORT uptr __tsan_java_find(uptr* from, uptr to) {
  for (uptr at = (*from + 7) & ~uptr{7}; at < to; at += 8) {
    u64* size = heap.size_at(at);
    if (!size || !*size) continue;
    *from = at;
    return *size;
  }
  return 0;
}
/// What a finalizer sees is ordered after everything. The heap's accesses are forgotten, which is as good.
DURESS_EXPORT void __tsan_java_finalize() {
  if (g_runtime) fresh(heap.begin, heap.end - heap.begin);
}

DURESS_EXPORT void __tsan_java_mutex_lock(uptr address) {
  lock(address, 1, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_mutex_unlock(uptr address) {
  if (Monitor* m = monitor(address); m && m->depth) --m->depth;
  sync_unlocking(pointer(address), false, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_mutex_read_lock(uptr address) {
  sync_locked(pointer(address), true, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_mutex_read_unlock(uptr address) {
  sync_unlocking(pointer(address), true, DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_mutex_lock_rec(uptr address, int levels) {
  lock(address, levels, DURESS_CALLER_PC);
}
DURESS_EXPORT int __tsan_java_mutex_unlock_rec(uptr address) {
  Monitor* m = monitor(address);
  int depth = m && m->depth ? m->depth : 1;
  if (m) m->depth = 0;
  sync_unlocking(pointer(address), false, DURESS_CALLER_PC);
  return depth;
}

DURESS_EXPORT void __tsan_java_acquire(uptr address) {
  sync_acquire(pointer(address), DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_release(uptr address) {
  sync_release_join(pointer(address), DURESS_CALLER_PC);
}
DURESS_EXPORT void __tsan_java_release_store(uptr address) {
  sync_release(pointer(address), DURESS_CALLER_PC);
}
