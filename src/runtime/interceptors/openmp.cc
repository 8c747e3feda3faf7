// SPDX-License-Identifier: Apache-2.0
//
// Functions of libomp whose order its tool interface tells too late, or not at all (openmp_tool.cc has the
// rest): critical sections, locks, ordered regions, reductions, flush; and memory of tasks, which libomp uses
// again without free().
#include <sched.h>

#include "base/prng.h"
#include "runtime/control.h"
#include "runtime/interceptors/real.h"
#include "runtime/openmp_tool.h"

using namespace duress;

extern "C" void __duress_annotate_ignore(int begin);             // annotations.cc
extern "C" void __duress_fence(u32 order, const DuressSite* s);  // hooks_atomic.cc

namespace {

using Loc = void;  // where in the source

/// Addresses that no object of the target has, for what belongs to a team.
const void* name_in_team(u64 what) {
  u64 team = reinterpret_cast<u64>(openmp_team());
  return reinterpret_cast<const void*>((mix(mix(team) ^ what) | u64{3} << 62) & ~u64{7});
}
constexpr u64 kOrdered = 1;

/// The loop with ordered(n) that this thread is in: how many counters it has.
thread_local int t_dimensions __attribute__((tls_model("initial-exec"))) = 1;

const void* iteration(const i64* counters) {
  u64 name = 2;
  for (int i = 0; i < t_dimensions; ++i) name = mix(name ^ static_cast<u64>(counters[i])) + 1;
  return name_in_team(name);
}

}  // namespace

// ---- critical sections and locks

DURESS_INTERCEPTOR(void, __kmpc_critical, (Loc * loc, int thread, void* name)) {
  DURESS_REAL(__kmpc_critical)(loc, thread, name);
  if (awake()) sync_locked(name, false, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(void, __kmpc_critical_with_hint, (Loc * loc, int thread, void* name, u32 hint)) {
  DURESS_REAL(__kmpc_critical_with_hint)(loc, thread, name, hint);
  if (awake()) sync_locked(name, false, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(void, __kmpc_end_critical, (Loc * loc, int thread, void* name)) {
  if (awake()) sync_unlocking(name, false, DURESS_CALLER_PC);
  DURESS_REAL(__kmpc_end_critical)(loc, thread, name);
}

DURESS_INTERCEPTOR(void, omp_set_lock, (void* lock)) {
  DURESS_REAL(omp_set_lock)(lock);
  if (awake()) sync_locked(lock, false, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(int, omp_test_lock, (void* lock)) {
  int taken = DURESS_REAL(omp_test_lock)(lock);
  if (taken && awake()) sync_locked(lock, false, DURESS_CALLER_PC);
  return taken;
}
DURESS_INTERCEPTOR(void, omp_unset_lock, (void* lock)) {
  if (awake()) sync_unlocking(lock, false, DURESS_CALLER_PC);
  DURESS_REAL(omp_unset_lock)(lock);
}
DURESS_INTERCEPTOR(void, omp_set_nest_lock, (void* lock)) {
  DURESS_REAL(omp_set_nest_lock)(lock);
  if (awake()) sync_locked(lock, false, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(int, omp_test_nest_lock, (void* lock)) {
  int depth = DURESS_REAL(omp_test_nest_lock)(lock);
  if (depth && awake()) sync_locked(lock, false, DURESS_CALLER_PC);
  return depth;
}
DURESS_INTERCEPTOR(void, omp_unset_nest_lock, (void* lock)) {
  if (awake()) sync_unlocking(lock, false, DURESS_CALLER_PC);
  DURESS_REAL(omp_unset_nest_lock)(lock);
}

// ---- ordered

DURESS_INTERCEPTOR(void, __kmpc_ordered, (Loc * loc, int thread)) {
  DURESS_REAL(__kmpc_ordered)(loc, thread);
  if (awake()) sync_acquire(name_in_team(kOrdered), DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(void, __kmpc_end_ordered, (Loc * loc, int thread)) {
  if (awake()) sync_release_join(name_in_team(kOrdered), DURESS_CALLER_PC);
  DURESS_REAL(__kmpc_end_ordered)(loc, thread);
}
DURESS_INTERCEPTOR(void, __kmpc_doacross_init, (Loc * loc, int thread, int dimensions, const void* bounds)) {
  t_dimensions = dimensions;
  DURESS_REAL(__kmpc_doacross_init)(loc, thread, dimensions, bounds);
}
DURESS_INTERCEPTOR(void, __kmpc_doacross_post, (Loc * loc, int thread, const i64* counters)) {
  if (awake()) sync_release_join(iteration(counters), DURESS_CALLER_PC);
  DURESS_REAL(__kmpc_doacross_post)(loc, thread, counters);
}
DURESS_INTERCEPTOR(void, __kmpc_doacross_wait, (Loc * loc, int thread, const i64* counters)) {
  DURESS_REAL(__kmpc_doacross_wait)(loc, thread, counters);
  if (awake()) sync_acquire(iteration(counters), DURESS_CALLER_PC);
}

// ---- reductions
//
// Result 1: the caller adds its part to the variable, under a lock or after all others have handed theirs
// over. While the call lasts libomp may call the program's own function to combine two parts, in an order
// that only it knows: what that function accesses is not looked at.

#define DURESS_REDUCE(name)                                                                \
  DURESS_INTERCEPTOR(int, name,                                                            \
                     (Loc * loc, int thread, int count, size_t size, void* data,           \
                      void (*combine)(void*, void*), void* lock)) {                        \
    if (!awake()) return DURESS_REAL(name)(loc, thread, count, size, data, combine, lock); \
    __duress_annotate_ignore(1);                                                           \
    int result = DURESS_REAL(name)(loc, thread, count, size, data, combine, lock);         \
    __duress_annotate_ignore(0);                                                           \
    if (result == 1) sync_acquire(lock, DURESS_CALLER_PC);                                 \
    return result;                                                                         \
  }
#define DURESS_END_REDUCE(name)                                         \
  DURESS_INTERCEPTOR(void, name, (Loc * loc, int thread, void* lock)) { \
    if (awake()) sync_release_join(lock, DURESS_CALLER_PC);             \
    DURESS_REAL(name)(loc, thread, lock);                               \
  }
DURESS_REDUCE(__kmpc_reduce)
DURESS_REDUCE(__kmpc_reduce_nowait)
DURESS_END_REDUCE(__kmpc_end_reduce)
DURESS_END_REDUCE(__kmpc_end_reduce_nowait)

// reduction(task, ...) on a region: the thread that comes first initialises the parts of all, with a function
// of the program's, before the others go on; the one that comes last combines them.

#define DURESS_TEAM_REDUCTION(name)                                                              \
  DURESS_INTERCEPTOR(void*, name, (Loc * loc, int thread, int of_loop, int count, void* data)) { \
    if (!awake()) return DURESS_REAL(name)(loc, thread, of_loop, count, data);                   \
    __duress_annotate_ignore(1);                                                                 \
    void* group = DURESS_REAL(name)(loc, thread, of_loop, count, data);                          \
    __duress_annotate_ignore(0);                                                                 \
    return group;                                                                                \
  }
DURESS_TEAM_REDUCTION(__kmpc_taskred_modifier_init)
DURESS_TEAM_REDUCTION(__kmpc_task_reduction_modifier_init)  // of older compilers
// __kmpc_task_reduction_modifier_fini is below, with the other waits for tasks.

// ---- objects of gcc
//
// libomp has the entry points of libgomp, too, and its tool interface tells what they do, but for the one
// lock around updates that no instruction can perform: the parts of most reductions are combined under it.

static u64 gomp_atomic_lock;

DURESS_INTERCEPTOR(void, GOMP_atomic_start, (void)) {
  DURESS_REAL(GOMP_atomic_start)();
  if (awake()) sync_acquire(&gomp_atomic_lock, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(void, GOMP_atomic_end, (void)) {
  if (awake()) sync_release_join(&gomp_atomic_lock, DURESS_CALLER_PC);
  DURESS_REAL(GOMP_atomic_end)();
}

// ---- waiting for tasks
//
// libomp waits for them by asking its queues again and again, without a call that the scheduler could see.
// Under control the strand takes what is in the queues, and lets others run until the tasks have ended.

DURESS_INTERCEPTOR(int, __kmpc_omp_taskyield, (Loc * loc, int thread, int end_part)) {
  int result = DURESS_REAL(__kmpc_omp_taskyield)(loc, thread, end_part);
  if (controlled()) scheduler().yield(DURESS_CALLER_PC);
  return result;
}

static void wait_for_tasks(Loc* loc, int thread, bool of_group, uptr pc) {
  if (!controlled()) return;
  while (openmp_tasks_unfinished(of_group)) {
    DURESS_REAL(__kmpc_omp_taskyield)(loc, thread, 0);
    if (openmp_tasks_unfinished(of_group)) scheduler().yield(pc);
  }
}

DURESS_INTERCEPTOR(int, __kmpc_omp_taskwait, (Loc * loc, int thread)) {
  wait_for_tasks(loc, thread, false, DURESS_CALLER_PC);
  return DURESS_REAL(__kmpc_omp_taskwait)(loc, thread);
}
DURESS_INTERCEPTOR(void, __kmpc_end_taskgroup, (Loc * loc, int thread)) {
  wait_for_tasks(loc, thread, true, DURESS_CALLER_PC);
  DURESS_REAL(__kmpc_end_taskgroup)(loc, thread);
}

DURESS_INTERCEPTOR(void, __kmpc_task_reduction_modifier_fini, (Loc * loc, int thread, int of_loop)) {
  wait_for_tasks(loc, thread, true, DURESS_CALLER_PC);
  if (awake()) openmp_expect_team_reduction();
  DURESS_REAL(__kmpc_task_reduction_modifier_fini)(loc, thread, of_loop);
}

DURESS_INTERCEPTOR(void, __kmpc_omp_taskwait_deps_51,
                   (Loc * loc, int thread, int count, const void* dependences, int others_count,
                    const void* others, int no_wait)) {
  if (controlled() && !no_wait) {
    while (openmp_dependences_unfinished(dependences, count)) {
      DURESS_REAL(__kmpc_omp_taskyield)(loc, thread, 0);
      if (openmp_dependences_unfinished(dependences, count)) scheduler().yield(DURESS_CALLER_PC);
    }
  }
  // Tasks that are not waited for are better taken by other threads: what this one takes itself while it
  // waits is ordered with what it does next, and a race between the two would not show.
  if (awake() && !controlled()) sched_yield();
  DURESS_REAL(__kmpc_omp_taskwait_deps_51)(loc, thread, count, dependences, others_count, others, no_wait);
}

// A new task is in a queue: under control another strand may take it now. Without a point here the strand
// that made it would mostly come to its next wait first, and take it there itself.

//
// The parts of an untied task come here, too. No point there: its next part could end before this one, and
// libomp would wait unseen for a task that has ended as far as its tool knows.

template <typename Make>
static int make_task(uptr pc, Make make) {
  openmp_task_made();  // what was before does not count
  int result = make();
  if (!controlled() || !openmp_task_made()) return result;
  scheduler().changed();
  if (!scheduler().is_systematic()) scheduler().point({OpKind::kSystem, 0, 0, 0, pc});
  return result;
}

DURESS_INTERCEPTOR(int, __kmpc_omp_task, (Loc * loc, int thread, void* task)) {
  return make_task(DURESS_CALLER_PC, [&] { return DURESS_REAL(__kmpc_omp_task)(loc, thread, task); });
}
DURESS_INTERCEPTOR(int, __kmpc_omp_task_with_deps,
                   (Loc * loc, int thread, void* task, int count, const void* dependences, int others_count,
                    const void* others)) {
  return make_task(DURESS_CALLER_PC, [&] {
    return DURESS_REAL(__kmpc_omp_task_with_deps)(loc, thread, task, count, dependences, others_count,
                                                  others);
  });
}

// ---- the rest

DURESS_INTERCEPTOR(void, __kmpc_flush, (Loc * loc)) {
  DURESS_REAL(__kmpc_flush)(loc);
  if (awake()) __duress_fence(__ATOMIC_SEQ_CST, nullptr);
}

DURESS_INTERCEPTOR(void*, __kmpc_omp_task_alloc,
                   (Loc * loc, int thread, int flags, size_t size, size_t shared, int (*entry)(int, void*))) {
  void* task = DURESS_REAL(__kmpc_omp_task_alloc)(loc, thread, flags, size, shared, entry);
  if (!awake() || !task) return task;
  memory_mapped(task, size);
  if (shared) memory_mapped(*static_cast<void**>(task), shared);  // its first field says where
  return task;
}
