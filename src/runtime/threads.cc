// SPDX-License-Identifier: Apache-2.0
//
// Threads of the target: from their creation to their end, as interceptors report them (sync.h), and their
// inline state.
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "runtime/access_watch.h"
#include "runtime/control.h"
#include "runtime/frame_rooms.h"
#include "runtime/parallel_adversary.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"
#include "sched/context.h"

extern "C" {
// Threads that the runtime does not know push their frames here; nobody reads them. 65,536 frames.
__attribute__((visibility("default"))) DuressFrame __duress_scratch_frames[1 << 16];
// The filter of threads that have none yet: never written, so nothing is ever found in it.
__attribute__((visibility("default"))) DuressFilterEntry __duress_no_filter;
// One that contains everything.
constinit DuressFilterEntry duress_full_filter = [] {
  DuressFilterEntry entry = {};
  entry.key = 1;
  for (uint8_t& mask : entry.read) mask = 0xff;
  for (uint8_t& mask : entry.written) mask = 0xff;
  return entry;
}();
__attribute__((visibility("default"))) constinit thread_local DuressSelf __duress_self = {
    &__duress_no_filter, 0, ~uint64_t{0}, 0, __duress_scratch_frames};
}

namespace duress {

constinit thread_local Thread* t_current __attribute__((tls_model("initial-exec"))) = nullptr;

FrameRooms& frame_rooms() {
  static constinit FrameRooms rooms;
  return rooms;
}

namespace {

thread_local bool t_ended __attribute__((tls_model("initial-exec"))) = false;

extern "C" void* __libc_stack_end;

void find_main_stack(Thread& t) {
  rlimit limit = {};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit));
  u64 size = limit.rlim_cur > (u64{1} << 30) ? u64{1} << 30 : limit.rlim_cur;
  t.stack_end = (reinterpret_cast<uptr>(__libc_stack_end) | 0xfff) + 1;
  t.stack_begin = t.stack_end - size;
}

StackId unwound_stack(Runtime& rt, Thread& t, const uptr* caller) {
  constexpr int kMost = 128;
  uptr frames[kMost];
  int count = unwind_stack_from(frames, kMost, caller);
  if (!count) return rt.context(t, *caller);
  StackId stack{0};
  while (count > 0) stack = rt.stacks.push(stack, frames[--count]);
  return stack;
}

/// The thread itself has one, and the one that may join it.
void drop_reference(Thread* t) {
  if (t->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Runtime& rt = *g_runtime;
  t->start.clear(rt.arena);
  t->end.clear(rt.arena);
  t->~Thread();
  rt.arena.free(t, sizeof(Thread));
}

}  // namespace

void find_stack(Thread& t) {
  if (t_strand && t_strand->kernel.stack_begin) {
    // The C library puts the thread's descriptor into the last page. To ask it for the stack would take 3 us.
    t.stack_begin = t_strand->kernel.stack_begin;
    t.stack_end = (sched::thread_pointer() | (kPageSize - 1)) + 1;
    return;
  }
  PrivateHeap heap;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  t.stack_begin = reinterpret_cast<uptr>(begin);
  t.stack_end = t.stack_begin + size;
}

Thread* Runtime::make_thread(Tid parent, StackId created_at, const VectorClock& creator) {
  SpinGuard guard(threads_lock);
  Slots::Taken taken = slots.take(creator);
  Tid tid = threads.add(parent, created_at, taken.slot, taken.first);
  return new (arena.allocate(sizeof(Thread))) Thread(arena, tid, taken.slot, taken.first);
}

void Runtime::enter_main_thread() {
  detecting = true;
  VectorClock empty(arena);
  Thread* t = make_thread(Tid{0}, StackId{0}, empty);
  find_main_stack(*t);
  enter_thread(t);
  engine.notify_chain(*t, {SyncKind::kMap, t->stack_begin, t->stack_end - t->stack_begin});
}

void Runtime::enter_thread(Thread* t) {
  ThreadInfo& info = threads[t->tid];
  info.stack_begin = t->stack_begin;
  info.stack_end = t->stack_end;
  // No call chain can be deeper than its stack holds return addresses with alignment: 16 bytes each,
  // as much as a frame here takes. Programs that move their stack get 64 MiB at least.
  t->frames_bytes = t->stack_end - t->stack_begin;
  if (t->frames_bytes < FrameRooms::kBytes) t->frames_bytes = FrameRooms::kBytes;
  t->frames_begin = frame_rooms().take(t->frames_bytes);
  if (!t->frames_begin) fatal("out of memory for a thread's call stack", "raise 'ulimit -v'");
  if (checking) {
    t->fasttrack.self = &__duress_self;
    __duress_self = self_that_asks(t->frames_begin);
  } else if (g_access_watch != AccessWatch::kNone) {
    __duress_self = self_that_asks(t->frames_begin);
  } else {  // whatever FastTrack does to the other one
    __duress_self = self_that_passes(t->frames_begin);
  }
  t_current = t;
  fasttrack.attach(t->fasttrack);
  SpinGuard guard(threads_lock);
  t->next = live;
  live = t;
}

Thread* adopt_thread() {
  if (!g_runtime || t_ended || !g_runtime->detecting) return nullptr;
  // Who created this thread is unknown, so nothing it does could be ordered rightly: it is left alone.
  g_runtime->reporter.incomplete("a thread that was not created through pthread_create or thrd_create");
  t_ended = true;
  return nullptr;
}

// ---- sync.h

Thread* thread_created(const uptr* caller) {
  Thread* parent = current_thread_or_adopt();
  InRuntime in(parent);
  if (!in.entered()) return nullptr;
  Runtime& rt = *g_runtime;
  Thread* t = rt.make_thread(parent->tid, unwound_stack(rt, *parent, caller), parent->clock.clock());
  StackId created_at = rt.threads[t->tid].created_at;
  rt.engine.thread_created(*parent, *t, {SyncKind::kThreadCreate, raw(t->tid), 0, {SiteId{0}, created_at}});
  return t;
}

Thread* running_thread() {
  return current_thread();
}

void thread_path(Thread* t, u64 path) {
  g_runtime->threads[t->tid].path = path;
}

void thread_started(Thread* t) {
  if (!t) return;
  enter_runtime(t);
  find_stack(*t);
  Runtime& rt = *g_runtime;
  rt.enter_thread(t);
  rt.engine.thread_started(*t, {SyncKind::kThreadStart, 0, 0});
  if (rt.checking) rt.engine.fresh(*t, t->stack_begin, t->stack_end);
  rt.engine.notify_chain(*t, {SyncKind::kMap, t->stack_begin, t->stack_end - t->stack_begin});
  t->in_runtime = false;
}

void thread_ended() {
  Thread* t = t_current;
  if (!t) return;
  Runtime& rt = *g_runtime;
  enter_runtime(t);
  rt.engine.thread_ended(*t, {SyncKind::kThreadEnd, 0, 0});
  rt.fasttrack.detach(t->fasttrack);
  if (DURESS_UNLIKELY(g_parallel_adversary != nullptr)) g_parallel_adversary->thread_ended(*t);
  t->fasttrack.self = &t->idle_self;
  __duress_self = self_that_asks(__duress_scratch_frames);
  t_ended = true;
  t_current = nullptr;
  {
    SpinGuard guard(rt.threads_lock);
    for (Thread** link = &rt.live; *link; link = &(*link)->next) {
      if (*link == t) {
        *link = t->next;
        break;
      }
    }
    ThreadInfo& info = rt.threads[t->tid];
    info.stack_begin = info.stack_end = 0;
    rt.slots.give_back(t->clock.slot(), t->clock.own());
  }
  frame_rooms().give(t->frames_begin, t->frames_bytes);
  drop_reference(t);
}

void thread_not_created(Thread* t) {
  if (!t) return;
  g_runtime->fasttrack.thread_started();
  {
    SpinGuard guard(g_runtime->threads_lock);
    g_runtime->slots.give_back(t->clock.slot(), t->clock.own());
  }
  drop_reference(t);
  drop_reference(t);
}

void thread_unreferenced(Thread* t) {
  if (t) drop_reference(t);
}

void thread_joining(Thread* joined) {
  if (Thread* t = current_thread())
    t->fasttrack.joining.store(joined ? &joined->fasttrack : nullptr, std::memory_order_release);
}

void thread_joined(Thread* joined, uptr) {
  if (!joined) return;
  Thread* t = current_thread();
  InRuntime in(t);
  if (in.entered()) {
    g_runtime->engine.thread_joined(*t, *joined, {SyncKind::kThreadJoin, raw(joined->tid), 0});
  }
  drop_reference(joined);
}

void thread_named(Thread* t, const char* name) {
  if (!t) t = current_thread();
  if (!t || !g_runtime) return;
  ThreadInfo& info = g_runtime->threads[t->tid];
  size_t n = strlen(name) < sizeof info.name - 1 ? strlen(name) : sizeof info.name - 1;
  memcpy(info.name, name, n);
  info.name[n] = 0;
  info.logged = false;
}

}  // namespace duress
