// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation and memory events of the calling thread, for the engine (analysis/sync_engine.h). See
// sync.h for the contract.
#include "runtime/sync.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "base/prng.h"
#include "base/raw.h"
#include "runtime/adversary.h"
#include "runtime/filtered_range.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/memory_guard.h"
#include "runtime/parallel_adversary.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"

namespace duress {

namespace {

uptr at(const void* p) {
  return reinterpret_cast<uptr>(p);
}

/// Runs body(rt, t) for the calling thread, unless it is inside the runtime already or unknown to it.
template <typename Body>
void as_event(Body body) {
  Thread* t = current_thread();
  InRuntime in(t);
  if (!in.entered()) return;
  body(*g_runtime, *t);
  FastTrack::after_sync(t->fasttrack);
}

void apply(const Sync& sync) {
  as_event([&](Runtime& rt, Thread& t) { rt.engine.apply(t, sync); });
}

/// With the call stack of the event, if anybody wants to know it.
void apply_at(Sync sync, uptr pc) {
  as_event([&](Runtime& rt, Thread& t) {
    if (!rt.direct) sync.place.stack = rt.context(t, pc);
    rt.engine.apply(t, sync);
  });
}

constexpr int kMostDescriptors = 4096;
constexpr u32 kNetwork = 1;          // the channel of all sockets whose other end is not known
constexpr u32 kNothing = 2;          // looked at: carries nothing
constexpr u32 kFile = u32{1} << 31;  // a file's channel; the other bits are a hash of which file it is
std::atomic<bool> any_file_written{false};

/// What is written to a file is read back by number, device and inode: two that are taken for one only hide a
/// race. 0: there is no such descriptor.
u32 channel_of_file(int fd) {
  struct stat status;
  if (raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) != 0) return 0;
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return kNothing;
  return kFile | static_cast<u32>(mix(status.st_ino ^ mix(status.st_dev)));
}

/// 0: none. A descriptor that nobody has seen being made (open, fopen) is looked at when it is first used.
u32 channel_of(std::atomic<u32>* channels, int fd) {
  if (fd < 0 || fd >= kMostDescriptors) return 0;
  u32 channel = channels[fd].load(std::memory_order_acquire);
  if (DURESS_LIKELY(channel != 0)) return channel == kNothing ? 0 : channel;
  channel = channel_of_file(fd);
  u32 unknown = 0;
  channels[fd].compare_exchange_strong(unknown, channel, std::memory_order_acq_rel);
  return channel == kNothing ? 0 : channel;
}

/// Channels are objects at addresses that no target object has.
uptr channel_name(u32 channel) {
  return uptr{channel} << 3 | uptr{1} << 62;
}

}  // namespace

void sync_locked(const void* lock, bool shared, uptr pc) {
  apply_at({shared ? SyncKind::kReadLock : SyncKind::kMutexLock, at(lock), 0}, pc);
}

void sync_unlocking(const void* lock, bool shared, uptr) {
  apply({shared ? SyncKind::kReadUnlock : SyncKind::kMutexUnlock, at(lock), 0});
}

void sync_wait_begin(const void*, const void* lock, uptr pc) {
  sync_unlocking(lock, false, pc);
}
void sync_wait_end(const void* condition, const void* lock, uptr pc) {
  sync_locked(lock, false, pc);
  if (condition) sync_acquire(condition, pc);  // signal → the wait it wakes
}

void sync_release(const void* object, uptr) {
  apply({SyncKind::kRelease, at(object), 0});
}

void sync_release_join(const void* object, uptr) {
  apply({SyncKind::kRelease, at(object), 1});
}

void sync_acquire(const void* object, uptr) {
  apply({SyncKind::kAcquire, at(object), 0});
}

/// Ends are objects at addresses that no target object has.
static uptr end_name(u64 path) {
  return (mix(path) | uptr{1} << 63) & ~uptr{7};
}

void sync_release_end(u64 path) {
  apply({SyncKind::kRelease, end_name(path), 1});
}

void sync_acquire_end(u64 path) {
  apply({SyncKind::kAcquire, end_name(path), 0});
}

void sync_forget(const void* object) {
  apply({SyncKind::kForget, at(object), 0});
}

void sync_block(const void* name, bool begin, uptr pc) {
  apply_at({begin ? SyncKind::kBlockBegin : SyncKind::kBlockEnd, at(name), 0}, pc);
}

void sync_release_fd(int fd, uptr) {
  u32 channel = g_runtime ? channel_of(g_runtime->fd_channels_out, fd) : 0;
  if (!channel) return;
  if (channel & kFile) any_file_written.store(true, std::memory_order_relaxed);
  apply({SyncKind::kRelease, channel_name(channel), 1});
}

void sync_release_stream(int fd, uptr pc) {
  u32 channel = g_runtime ? channel_of(g_runtime->fd_channels_out, fd) : 0;
  if (!(channel & kFile)) sync_release_fd(fd, pc);
}

void sync_acquire_fd(int fd, uptr) {
  u32 channel = g_runtime ? channel_of(g_runtime->fd_channels_in, fd) : 0;
  if (!channel || ((channel & kFile) && !any_file_written.load(std::memory_order_relaxed))) return;
  apply({SyncKind::kAcquire, channel_name(channel), 0});
}

void sync_forget_fd(int fd) {
  if (fd < 0 || fd >= kMostDescriptors || !g_runtime) return;
  g_runtime->fd_channels_in[fd].store(0, std::memory_order_release);
  g_runtime->fd_channels_out[fd].store(0, std::memory_order_release);
}

void sync_pair_fds(int read_end, int write_end) {
  if (!g_runtime || read_end < 0 || write_end < 0 || read_end >= kMostDescriptors ||
      write_end >= kMostDescriptors)
    return;
  u32 channel = g_runtime->next_channel.fetch_add(1, std::memory_order_relaxed);
  g_runtime->fd_channels_in[read_end].store(channel, std::memory_order_release);
  g_runtime->fd_channels_out[write_end].store(channel, std::memory_order_release);
}

void sync_network_fd(int fd) {
  if (!g_runtime || fd < 0 || fd >= kMostDescriptors) return;
  g_runtime->fd_channels_in[fd].store(kNetwork, std::memory_order_release);
  g_runtime->fd_channels_out[fd].store(kNetwork, std::memory_order_release);
}

void sync_duplicate_fd(int fd, int copy) {
  if (!g_runtime || fd < 0 || copy < 0 || fd >= kMostDescriptors || copy >= kMostDescriptors) return;
  Runtime& rt = *g_runtime;
  rt.fd_channels_in[copy].store(rt.fd_channels_in[fd].load(std::memory_order_acquire),
                                std::memory_order_release);
  rt.fd_channels_out[copy].store(rt.fd_channels_out[fd].load(std::memory_order_acquire),
                                 std::memory_order_release);
}

// ---- memory --------------------------------------------------------------------------------------------

/// See HeapTable::follow_all().
static bool unseen(Runtime& rt, void* p) {
  if (DURESS_LIKELY(!rt.heap.follows_all()) || current_thread()) return false;
  rt.heap.remove(at(p));
  return true;
}

/// Null: the calling thread's memory errors are not looked for.
static MemoryGuard* memory_guard() {
  return DURESS_UNLIKELY(g_memory_guard != nullptr) && controlled() ? g_memory_guard : nullptr;
}

/// An execution of duress::check without clocks.
static bool is_threadless() {
  return g_memory_listener && !current_thread();
}

/// Of instrumented code only: how a library makes its memory known to other threads may not be seen. Not in
/// controlled executions, where an allocation is no step that another thread could come before.
static bool allocation_is_write(const Runtime& rt, uptr pc) {
  return rt.direct && !rt.controlled && rt.fasttrack.has_several_threads() && is_known_instrumented_code(pc);
}

void memory_allocated(void* p, size_t size, size_t usable, HeapCall by, uptr pc) {
  if (!p) return;
  MemoryGuard* guard = memory_guard();
  if (DURESS_UNLIKELY(guard && is_threadless()))
    guard->allocated({at(p), size, StackId{0}, Tid{0}}, usable, by);
  if (DURESS_UNLIKELY(g_memory_listener != nullptr) && !guard) g_memory_guard->overwritten(at(p), usable);
  if (unseen(*g_runtime, p)) return;
  as_event([&](Runtime& rt, Thread& t) {
    if (!rt.checking && !guard) {
      rt.heap.insert({at(p), size, StackId{0}, t.tid});
      return;
    }
    // All of it: a program may ask malloc_usable_size(), and another thread may have used the rest before.
    StackId stack = rt.context(t, pc);
    if (rt.checking && allocation_is_write(rt, pc)) {
      rt.fasttrack.allocated(t.fasttrack, at(p), at(p) + usable, size, stack);
    } else if (rt.checking) {
      rt.engine.fresh(t, at(p), at(p) + usable);
    }
    rt.heap.insert({at(p), size, stack, t.tid});
    if (rt.checking) rt.engine.notify_chain(t, {SyncKind::kAlloc, at(p), size, {SiteId{0}, stack}});
    if (guard) guard->allocated({at(p), size, stack, t.tid}, usable, by);
  });
}

/// Memory of the dynamic loader itself: names and tables of libraries, which it frees under its own lock.
/// Callbacks of dl_iterate_phdr() read them under the same one, which nobody sees.
static bool is_loader(uptr pc) {
  static constinit std::atomic<uptr> known_end{0};
  uptr begin = getauxval(AT_BASE);
  uptr end = known_end.load(std::memory_order_relaxed);
  if (begin != 0 && end == 0) {
    auto* header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
    auto* part = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
    end = begin;
    for (int i = 0; i < header->e_phnum; ++i) {
      if (part[i].p_type == PT_LOAD) end = begin + part[i].p_vaddr + part[i].p_memsz;
    }
    known_end.store(end, std::memory_order_relaxed);
  }
  return pc >= begin && pc < end;
}

void ThreadUpkeep::set(bool in_upkeep) {
  if (Thread* t = current_thread()) t->in_upkeep = in_upkeep;
}

constinit thread_local PrivateHeap* t_private_heap = nullptr;

PrivateHeap::PrivateHeap() {
  t_private_heap = this;
}
PrivateHeap::~PrivateHeap() {
  t_private_heap = nullptr;
}
void* PrivateHeap::allocate(size_t size) {
  constexpr size_t kAlign = 16;
  if (size > sizeof bytes_ - used_) return nullptr;
  void* p = bytes_ + used_;
  used_ += (size + kAlign - 1) & ~(kAlign - 1);
  return p;
}

/// What was known of the block's memory is forgotten. True: its memory is kept.
static bool end_block(void* p, MemoryGuard* guard, uptr pc) {
  bool kept = false;
  as_event([&](Runtime& rt, Thread& t) {
    HeapBlock block = rt.heap.remove(at(p));
    if (!block.start) {
      if (guard) kept = guard->freed_unseen(p, rt.context(t, pc), t.tid);
      return;
    }
    Place place{kFreeSite, rt.checking || guard ? rt.context(t, pc) : StackId{0}};
    if (!rt.checking) {
      rt.fasttrack.forget(t.fasttrack, at(p), at(p) + block.size);  // what synchronised there
    } else if (t.in_upkeep || is_loader(pc)) {
      rt.engine.fresh(t, at(p), at(p) + block.size);
    } else if (rt.direct) {
      rt.fasttrack.freed(t.fasttrack, at(p), block.size, place);
    } else {
      rt.chain.access(t.view, {at(p), static_cast<u32>(block.size), AccessKind::kFree, place});
    }
    if (DURESS_UNLIKELY(g_adversary != nullptr)) g_adversary->forget(at(p), at(p) + block.size);
    if (DURESS_UNLIKELY(g_parallel_adversary != nullptr))
      g_parallel_adversary->forget(at(p), at(p) + block.size);
    if (DURESS_UNLIKELY(g_rc11 != nullptr)) g_rc11->forget(at(p), at(p) + block.size);
    rt.engine.notify_chain(t, {SyncKind::kFree, at(p), block.size});
    if (guard) kept = guard->freed(block, place.stack, t.tid);
  });
  return kept;
}

bool memory_freeing(void* p, HeapCall by, uptr pc) {
  if (!p) return false;
  if (DURESS_UNLIKELY(g_runtime->points.frees()) && controlled()) control_free(p, pc);
  MemoryGuard* guard = memory_guard();
  if (guard) guard->check_free(p, by, pc);
  if (DURESS_UNLIKELY(g_learn_freed != nullptr) && controlled()) g_learn_freed(p);
  bool kept = false;
  if (DURESS_UNLIKELY(guard && is_threadless())) kept = guard->freed_unseen(p, StackId{0}, Tid{0});
  if (!unseen(*g_runtime, p)) kept |= end_block(p, guard, pc);
  if (DURESS_UNLIKELY(g_memory_guard != nullptr) && !kept) g_memory_guard->forget(p);
  return kept;
}

void memory_mapped(void* p, size_t size) {
  if (DURESS_UNLIKELY(g_memory_listener != nullptr) && size >= kPageSize)
    g_memory_guard->overwritten(at(p), size);
  as_event([&](Runtime& rt, Thread& t) {
    if (!rt.checking) return;
    rt.engine.fresh(t, at(p), at(p) + size);
    rt.engine.notify_chain(t, {SyncKind::kMap, at(p), size});
  });
}

void memory_accessed(const void* p, size_t size, bool write, uptr pc) {
  if (!size) return;
  if (DURESS_UNLIKELY(g_learn_access != nullptr) && controlled()) g_learn_access(p, size, write, nullptr);
  if (MemoryGuard* guard = memory_guard()) {
    Thread* t;
    if (is_guarded(&t)) guard->library_access(t, p, size, write, pc);
  }
  if (is_known_range(p, size, write)) return;
  as_event([&](Runtime& rt, Thread& t) {
    if (!rt.checking) return;
    Place place{write ? kLibraryWriteSite : kLibraryReadSite, rt.context(t, pc)};
    if (rt.direct) {
      rt.fasttrack.access(t.fasttrack, at(p), size, write, place);
    } else {
      rt.chain.access(t.view,
                      {at(p), static_cast<u32>(size), write ? AccessKind::kWrite : AccessKind::kRead, place});
    }
  });
}

void object_accessed(const void* object, bool write, uptr pc) {
  memory_accessed(object, 1, write, pc);
}

void object_begins(const void* object) {
  memory_mapped(const_cast<void*>(object), sizeof(u64));
}

// ---- fork -----------------------------------------------------------------------------------------------

std::atomic<bool> g_keep_out{false};

void wait_outside(Thread* t) {
  do {
    __atomic_store_n(&t->in_runtime, false, __ATOMIC_RELEASE);
    while (g_keep_out.load(std::memory_order_acquire)) yield_processor();
    t->in_runtime = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (g_keep_out.load(std::memory_order_relaxed));
}

/// Waits until no other thread is in an analysis, whose locks it would hold for ever in the child.
static void keep_others_out(Runtime& rt, const Thread* self) {
  if (rt.direct || rt.controlled) return;
  g_keep_out.store(true, std::memory_order_seq_cst);
  barrier_all_threads();
  for (bool inside = true; inside; yield_processor()) {
    inside = false;
    SpinGuard guard(rt.threads_lock);
    for (Thread* t = rt.live; t; t = t->next)
      inside |= t != self && __atomic_load_n(&t->in_runtime, __ATOMIC_ACQUIRE);
  }
}

void before_fork() {
  if (!g_runtime) return;
  Runtime& rt = *g_runtime;
  Thread* t = current_thread();
  // A signal handler that forks while its thread is inside the runtime: waiting would be for ever.
  rt.fork_from_within = t && t->in_runtime;
  if (rt.fork_from_within) return;
  if (t) t->in_runtime = true;
  keep_others_out(rt, t);
  rt.fasttrack.pause();
  rt.reporter.lock();
  rt.threads_lock.lock();
  rt.heap.lock_all();
  rt.log.lock();
}

void after_fork(bool child) {
  if (!g_runtime) return;
  Runtime& rt = *g_runtime;
  Thread* t = current_thread();
  if (rt.fork_from_within) {
    if (child)
      fatal("fork in a signal handler that interrupted the detector", "such a child cannot be observed");
    return;
  }
  rt.log.unlock();
  rt.heap.unlock_all();
  rt.threads_lock.unlock();
  rt.reporter.unlock();
  rt.fasttrack.resume();
  g_keep_out.store(false, std::memory_order_release);
  if (child) {
    rt.arena.reset_lock();
    rt.lock_sets.reset_lock();
    rt.syncs.reset_locks();
    new (&rt.mixed_lock) SpinLock;
    if (t) {
      rt.fasttrack.after_fork(t->fasttrack);
      rt.live = t;
      t->next = nullptr;
    }
    rt.after_fork_in_child();
  }
  if (t) t->in_runtime = false;
}

}  // namespace duress
