// SPDX-License-Identifier: Apache-2.0
//
// Entry points of oneTBB's library (namespace tbb::detail::r1), which is not instrumented: handing a task
// over → its execution, wherever that is; what is waited for → the return of the wait. The rest of oneTBB is
// templates, whose atomics the pass sees: the end of a task is one of them. Memory for tasks is used again
// without free().
#include "runtime/interceptors/real.h"

using namespace duress;

namespace {

/// The beginning of tbb::detail::d1::task. Its last reserved word is not used by oneTBB 2021 and 2022; where
/// it is, the task is left alone.
struct Task {
  void* const* table;  // of virtual functions
  u64 traits;
  u64 reserved[5];
  void* const* own_table;  // while a task waits for its execution: `table` is ours
};
struct WaitContext {
  u64 traits;
  u64 references;  // an atomic; a task that ends takes one away
};
struct Context;
struct Arena;
struct Pool;
struct ExecutionData;

using Execute = Task*(Task*, ExecutionData*);
enum { kDestroy, kDelete, kExecute, kCancel, kFunctions };

/// The task begins on the calling thread: it is what it was, and follows what its creator did.
void begin(Task* task, uptr pc) {
  task->table = task->own_table;
  task->own_table = nullptr;
  sync_acquire(task, pc);
}

template <int kFunction>
Task* begin_and_call(Task* task, ExecutionData* data) {
  begin(task, DURESS_CALLER_PC);
  return reinterpret_cast<Execute*>(task->table[kFunction])(task, data);
}
template <int kFunction>
void begin_and_destroy(Task* task) {
  begin(task, DURESS_CALLER_PC);
  reinterpret_cast<void (*)(Task*)>(task->table[kFunction])(task);
}

/// In place of a task's table. Before it: the offset to the top and the type, as in every table.
void* const shim[2 + kFunctions] = {nullptr,
                                    nullptr,
                                    reinterpret_cast<void*>(begin_and_destroy<kDestroy>),
                                    reinterpret_cast<void*>(begin_and_destroy<kDelete>),
                                    reinterpret_cast<void*>(begin_and_call<kExecute>),
                                    reinterpret_cast<void*>(begin_and_call<kCancel>)};

void hand_over(Task* task, uptr pc) {
  if (!awake() || task->own_table) return;
  sync_release_join(task, pc);
  task->own_table = task->table;
  task->table = shim + 2;
}

void* fresh(void* p, size_t size) {
  if (awake() && p) memory_mapped(p, size);
  return p;
}

/// A call that returns, by itself or by an exception, when nothing refers to a context any more.
template <typename Call>
void wait_for(WaitContext* context, uptr pc, Call call) {
  if (!awake()) return call();
  struct Wait {
    Call& call;
    WaitContext* context;
    uptr pc;
    static int run(void* wait) {
      static_cast<Wait*>(wait)->call();
      return 0;
    }
    static void returned(void* data) {
      auto* wait = static_cast<Wait*>(data);
      sync_atomic_load(&wait->context->references, sizeof wait->context->references, wait->pc);
    }
  } wait{call, context, pc};
  duress_with_cleanup(Wait::run, Wait::returned, &wait);
  Wait::returned(&wait);
}

}  // namespace

// spawn(task&, context&), spawn(task&, context&, slot)
DURESS_INTERCEPTOR(void, _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE,
                   (Task * task, Context* context)) {
  hand_over(task, DURESS_CALLER_PC);
  DURESS_REAL(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE)(task, context);
}
DURESS_INTERCEPTOR(void, _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt,
                   (Task * task, Context* context, u16 slot)) {
  hand_over(task, DURESS_CALLER_PC);
  DURESS_REAL(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt)(task, context, slot);
}
// submit(task&, context&, arena*, as_critical)
DURESS_INTERCEPTOR(void, _ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm,
                   (Task * task, Context* context, Arena* arena, u64 critical)) {
  hand_over(task, DURESS_CALLER_PC);
  DURESS_REAL(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm)
  (task, context, arena, critical);
}
// enqueue(task&, arena*), enqueue(task&, context&, arena*)
DURESS_INTERCEPTOR(void, _ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE,
                   (Task * task, Arena* arena)) {
  hand_over(task, DURESS_CALLER_PC);
  DURESS_REAL(_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE)(task, arena);
}
DURESS_INTERCEPTOR(void,
                   _ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE,
                   (Task * task, Context* context, Arena* arena)) {
  hand_over(task, DURESS_CALLER_PC);
  DURESS_REAL(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE)
  (task, context, arena);
}

// wait(wait_context&, context&); execute_and_wait(task&, context&, wait_context&, context&)
DURESS_INTERCEPTOR(void, _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE,
                   (WaitContext * wait, Context* context)) {
  wait_for(wait, DURESS_CALLER_PC, [&] {
    DURESS_REAL(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE)(wait, context);
  });
}
DURESS_INTERCEPTOR(
    void, _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_,
    (Task * task, Context* task_context, WaitContext* wait, Context* wait_context)) {
  wait_for(wait, DURESS_CALLER_PC, [&] {
    DURESS_REAL(
        _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_)
    (task, task_context, wait, wait_context);
  });
}

// allocate(pool*&, size), allocate(pool*&, size, execution_data const&)
DURESS_INTERCEPTOR(void*, _ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm,
                   (Pool * *pool, size_t size)) {
  return fresh(DURESS_REAL(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm)(pool, size), size);
}
DURESS_INTERCEPTOR(void*, _ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE,
                   (Pool * *pool, size_t size, const ExecutionData* data)) {
  return fresh(DURESS_REAL(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE)(
                   pool, size, data),
               size);
}
