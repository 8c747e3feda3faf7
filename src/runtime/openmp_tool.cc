// SPDX-License-Identifier: Apache-2.0
//
// The order that OpenMP gives: libomp tells a tool what it does (OMPT, chapter 4 of the OpenMP
// specification), and each callback becomes releases and acquires. libomp itself is not instrumented, so this
// is all that is seen of its synchronisation; what OMPT says too late (locks after their release) or not at
// all (the end of a reduction) is intercepted instead: interceptors/openmp.cc.
//
//   fork       release by the encountering thread → acquire by each thread of the team
//   barrier    all arrivals → all departures; tasks that end while their thread waits there belong to it
//   join       the arrivals at the last barrier → the encountering thread
//   task       creation → its begin; its end → taskwait of the parent, end of the task group, barrier of the
//   team depend     the ends of tasks that it must follow → its begin, for tasks with the same parent
//
// Two tasks that one thread runs one after the other are ordered by that thread, although another schedule
// could run them at once: such a race shows in executions where two threads take them.
#include "runtime/openmp_tool.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/control.h"
#include "runtime/openmp_task.h"
#include "runtime/runtime.h"

namespace duress {

constinit bool g_openmp_seen = false;

namespace {

using namespace ompt;

/// The implicit task of the calling thread.
constinit thread_local Task* t_implicit __attribute__((tls_model("initial-exec"))) = nullptr;
/// The task that it runs.
constinit thread_local Task* t_task __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local bool t_worker __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool t_made __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool t_team_reduction __attribute__((tls_model("initial-exec"))) = false;
std::atomic<u64> next_task{1};

template <typename T>
T* make() {
  return g_runtime->arena.make<T>();
}
template <typename T>
void destroy(T* object) {
  g_runtime->arena.free(object, sizeof(T));
}

void released(u64& object) {
  sync_release_join(&object, 0);
}
void acquired(u64& object) {
  sync_acquire(&object, 0);
}

Task* task_of(const Data* data) {
  return data ? static_cast<Task*>(data->pointer) : nullptr;
}

Task* make_task(Task* parent, Team* team) {
  Task* task = make<Task>();
  task->parent = parent;
  task->team = team;
  task->number = next_task.fetch_add(1, std::memory_order_relaxed);
  if (parent) {
    task->group = parent->group;
    parent->references.fetch_add(1, std::memory_order_relaxed);
    parent->unfinished.fetch_add(1, std::memory_order_relaxed);
    if (task->group) task->group->unfinished.fetch_add(1, std::memory_order_relaxed);
  }
  return task;
}

void drop(Task* task) {
  while (task && task->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Task* parent = task->parent;
    sync_forget(&task->begin);
    sync_forget(&task->children);
    if (task->dependences)
      g_runtime->arena.free(const_cast<Dependence*>(task->dependences),
                            task->dependence_count * sizeof(Dependence));
    destroy(task);
    task = parent;
  }
}

// ---- dependences (openmp_dependences.cc)

void on_dependences(Data* data, const Dependence* list, int count) {
  Task* task = task_of(data);
  if (!task || count <= 0 || task == t_implicit || task->dependences) return;  // ordered(n): intercepted
  auto* copy =
      static_cast<Dependence*>(g_runtime->arena.allocate(static_cast<size_t>(count) * sizeof(Dependence)));
  for (int i = 0; i < count; ++i) copy[i] = list[i];
  task->dependences = copy;
  task->dependence_count = static_cast<u32>(count);
  if (controlled() && task->parent) add_dependent(*task);
}

// ---- regions

/// Threads of libomp wait by looking at a word again and again, which is no wait for the scheduler: under
/// control they sleep at once.
void sleep_at_once() {
  using SetBlocktime = void(int);
  static SetBlocktime* set = reinterpret_cast<SetBlocktime*>(dlsym(RTLD_DEFAULT, "kmp_set_blocktime"));
  if (set) set(0);
}

void on_thread_begin(u32 type, Data*) {
  t_worker = type != kThreadInitial;
  if (controlled() && t_worker) controlled()->of_library = true;
}

void on_parallel_begin(Data*, const void*, Data* parallel, unsigned, int, const void*) {
  if (controlled()) sleep_at_once();
  Team* team = make<Team>();
  parallel->pointer = team;
  released(team->begin);
}

void on_parallel_end(Data* parallel, Data*, int, const void*) {
  auto* team = static_cast<Team*>(parallel->pointer);
  if (!team) return;
  parallel->pointer = nullptr;
  for (u64& barrier : team->barriers) {
    acquired(barrier);
    sync_forget(&barrier);
  }
  sync_forget(&team->begin);
  sync_forget(&team->parts);
  destroy(team);
}

/// A worker is called after its number in the first team that it is in, which libomp mostly gives it again.
void name_worker(unsigned number) {
  char name[16] = "omp thread ";
  char* end = name + sizeof name - 1;
  char* digit = end;
  do {
    *--digit = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number && digit > name + 11);
  memmove(name + 11, digit, static_cast<size_t>(end - digit) + 1);
  thread_named(nullptr, name);
}

void on_implicit_task(u32 endpoint, Data* parallel, Data* data, unsigned, unsigned index, int) {
  if (endpoint == kBegin) {
    if (!t_implicit && t_worker) name_worker(index);
    if (parallel && !parallel->pointer) parallel->pointer = make<Team>();  // the initial one
    Team* team = parallel ? static_cast<Team*>(parallel->pointer) : make<Team>();
    Task* task = make_task(nullptr, team);
    task->outer = t_implicit;
    t_implicit = t_task = task;
    data->pointer = task;
    acquired(team->begin);
    return;
  }
  // A worker hears of it when it is woken for the next region: the team may be gone.
  Task* task = task_of(data);
  if (!task) return;
  if (t_implicit == task) t_implicit = t_task = task->outer;
  data->pointer = nullptr;
  drop(task);
}

void on_barrier(u32 endpoint, bool team_is_there, Task& task) {
  if (!team_is_there) return;  // the last one of a region, when the thread is woken for the next
  if (endpoint != kEnd) released(task.team->barriers[task.barrier]);
  if (endpoint == kBegin) return;
  acquired(task.team->barriers[task.barrier]);
  task.barrier ^= 1;
}

void on_sync_region(u32 kind, u32 endpoint, Data* parallel, Data* data, const void*) {
  Task* task = task_of(data);
  if (!task) return;
  switch (kind) {
    case kRegionTaskwait:
      if (endpoint != kBegin) acquired(task->children);
      return;
    case kRegionTaskgroup:
      if (endpoint != kEnd) {
        Group* group = make<Group>();
        group->outer = task->group;
        task->group = group;
      }
      if (endpoint != kBegin && task->group) {
        Group* group = task->group;
        acquired(group->ended);
        sync_forget(&group->ended);
        task->group = group->outer;
        destroy(group);
      }
      return;
    case kRegionReduction:
      return;
    default:
      on_barrier(endpoint, parallel && parallel->pointer, *task);
  }
}

/// The tasks of a group have ended; before the group does, the parts of its reductions are combined.
void on_sync_region_wait(u32 kind, u32 endpoint, Data*, Data* data, const void*) {
  Task* task = task_of(data);
  if (!task || !task->group || kind != kRegionTaskgroup || endpoint == kBegin) return;
  acquired(task->group->ended);
  if (!t_team_reduction || !task->team) return;
  // Of all threads that come here the last one combines the parts of all.
  t_team_reduction = false;
  released(task->team->parts);
  acquired(task->team->parts);
}

// ---- explicit tasks

void on_task_create(Data* creator, const void*, Data* data, int flags, int, const void*) {
  if (flags & (kTaskInitial | kTaskImplicit)) return;
  Task* parent = task_of(creator);
  Task* task = make_task(parent, parent ? parent->team : nullptr);
  data->pointer = task;
  released(task->begin);
  t_made = true;
}

/// The task has ended: releases everything that its waiters acquire.
void release_end(Task& task) {
  release_dependences(task);
  if (task.parent) released(task.parent->children);
  if (task.group) released(task.group->ended);
  if (t_implicit && t_implicit->team == task.team) released(task.team->barriers[t_implicit->barrier]);
}

void on_task_schedule(Data* prior_data, u32 status, Data* next_data) {
  Task* prior = task_of(prior_data);
  Task* next = task_of(next_data);
  if (prior && status == kTaskwaitComplete) acquire_dependences(*prior);
  bool ended = status == kTaskComplete || status == kTaskCancelled || status == kTaskLateFulfil ||
               status == kTaskwaitComplete;
  if (prior && prior->parent) {
    if (ended || status == kTaskDetached || status == kTaskEarlyFulfil) {
      release_end(*prior);
    } else {
      released(prior->begin);
    }
  }
  if (next && next->parent) {
    acquired(next->begin);
    acquire_dependences(*next);
  }
  if (next) t_task = next;
  if (prior && prior->parent && ended) {
    prior->parent->unfinished.fetch_sub(1, std::memory_order_relaxed);
    if (prior->group) prior->group->unfinished.fetch_sub(1, std::memory_order_relaxed);
    if (controlled()) remove_dependent(*prior);
    prior_data->pointer = nullptr;
    drop(prior);
  }
}

// ---- start

int on_initialize(Function* (*look_up)(const char*), int, Data*) {
  auto set_callback = reinterpret_cast<SetCallback*>(look_up("ompt_set_callback"));
  if (!set_callback) return 0;
  auto set = [&](ompt::Event event, auto* callback) {
    return set_callback(event, reinterpret_cast<Function*>(callback)) >= kSetSometimes;
  };
  // All or nothing: with a part of the order there would be false alarms.
  g_openmp_seen = set(kThreadBegin, on_thread_begin) && set(kParallelBegin, on_parallel_begin) &&
                  set(kParallelEnd, on_parallel_end) && set(kImplicitTask, on_implicit_task) &&
                  set(kSyncRegion, on_sync_region) && set(kSyncRegionWait, on_sync_region_wait) &&
                  set(kTaskCreate, on_task_create) && set(kTaskSchedule, on_task_schedule) &&
                  set(kDependences, on_dependences);
  return g_openmp_seen;
}

void on_finalize(Data*) {}

}  // namespace

const void* openmp_team() {
  return t_implicit ? t_implicit->team : nullptr;
}

void openmp_expect_team_reduction() {
  t_team_reduction = true;
}

bool openmp_tasks_unfinished(bool of_group) {
  if (!t_task) return false;
  if (!of_group) return t_task->unfinished.load(std::memory_order_relaxed) != 0;
  return t_task->group && t_task->group->unfinished.load(std::memory_order_relaxed) != 0;
}

bool openmp_task_made() {
  bool made = t_made;
  t_made = false;
  return made;
}

bool openmp_dependences_unfinished(const void* dependences, int count) {
  return openmp_dependences_unfinished(t_task, dependences, count);
}

}  // namespace duress

/// libomp looks for it when it starts. Null: no tool.
extern "C" __attribute__((visibility("default"), weak)) duress::ompt::StartToolResult* ompt_start_tool(
    unsigned, const char*) {
  static constinit duress::ompt::StartToolResult result = {&duress::on_initialize, &duress::on_finalize, {}};
  return duress::g_runtime ? &result : nullptr;
}
