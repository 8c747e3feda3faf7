// SPDX-License-Identifier: Apache-2.0
//
// Fibers, as <sanitizer/tsan_interface.h> announces them: a fiber is a thread for the analyses, and the
// kernel's thread runs one at a time. Code that switches stacks and announces nothing is one thread, which is
// right as long as its accesses are ordered by that.
#include "base/check.h"
#include "runtime/frame_rooms.h"
#include "runtime/tsan_hooks.h"

namespace duress {
namespace {

constexpr unsigned kNoSync = 1;  // flag of a switch: it orders nothing

/// What a fiber keeps while another one runs on its thread.
void put_aside(Thread& fiber) {
  fiber.idle_self = __duress_self;
  fiber.fasttrack.self = &fiber.idle_self;
}

void continue_with(Thread& fiber) {
  __duress_self = fiber.idle_self;
  fiber.fasttrack.self = &__duress_self;
  t_current = &fiber;
}

/// The fiber begins where its creator is, and has a shadow call stack of its own.
Thread* make_fiber(Runtime& rt, Thread& creator, uptr pc) {
  Thread* t = rt.make_thread(creator.tid, rt.context(creator, pc), creator.clock.clock());
  StackId created_at = rt.threads[t->tid].created_at;
  rt.engine.thread_created(creator, *t, {SyncKind::kThreadCreate, raw(t->tid), 0, {SiteId{0}, created_at}});
  DuressSelf saved = __duress_self;
  rt.enter_thread(t);
  rt.engine.thread_started(*t, {SyncKind::kThreadStart, 0, 0});
  put_aside(*t);
  __duress_self = saved;
  t_current = &creator;
  return t;
}

void end_fiber(Runtime& rt, Thread& fiber) {
  rt.engine.thread_ended(fiber, {SyncKind::kThreadEnd, 0, 0});
  rt.fasttrack.detach(fiber.fasttrack);
  {
    SpinGuard guard(rt.threads_lock);
    for (Thread** link = &rt.live; *link; link = &(*link)->next) {
      if (*link == &fiber) {
        *link = fiber.next;
        break;
      }
    }
    rt.slots.give_back(fiber.clock.slot(), fiber.clock.own());
  }
  frame_rooms().give(fiber.frames_begin, fiber.frames_bytes);
  thread_unreferenced(&fiber);
  thread_unreferenced(&fiber);
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_EXPORT void* __tsan_get_current_fiber() {
  return current_thread();
}

DURESS_EXPORT void* __tsan_create_fiber(unsigned) {
  Thread* t = current_thread_or_adopt();
  InRuntime in(t);
  return in.entered() ? make_fiber(*g_runtime, *t, DURESS_CALLER_PC) : nullptr;
}

DURESS_EXPORT void __tsan_destroy_fiber(void* fiber) {
  InRuntime in(current_thread());
  if (in.entered() && fiber) end_fiber(*g_runtime, *static_cast<Thread*>(fiber));
}

DURESS_EXPORT void __tsan_switch_to_fiber(void* fiber, unsigned flags) {
  Thread* from = current_thread();
  auto* to = static_cast<Thread*>(fiber);
  if (!from || !to || from == to || from->in_runtime) return;
  if (!(flags & kNoSync)) sync_release_join(to, DURESS_CALLER_PC);
  from->in_runtime = true;
  put_aside(*from);
  continue_with(*to);
  from->in_runtime = false;
  if (!(flags & kNoSync)) sync_acquire(to, DURESS_CALLER_PC);
}

DURESS_EXPORT void __tsan_set_fiber_name(void* fiber, const char* name) {
  if (fiber) thread_named(static_cast<Thread*>(fiber), name);
}
