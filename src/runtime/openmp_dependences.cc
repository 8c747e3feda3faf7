// SPDX-License-Identifier: Apache-2.0
//
// Dependences of OpenMP's tasks: a task follows the ends of those tasks of the same parent that its `depend`
// clauses name.
#include "base/prng.h"
#include "runtime/openmp_task.h"
#include "runtime/runtime.h"

namespace duress {

namespace {

using namespace ompt;

/// What tasks with one kind of dependence on a variable release at their end; then what those with any
/// dependence release, and those that depend on all memory, whatever the variable.
enum Kind : u64 { kIns, kOuts, kExclusive, kSets, kKinds, kAny = kKinds, kAllMemory, kObjects };

Kind kind_of(u32 type) {
  switch (type) {
    case kDependenceIn:
      return kIns;
    case kDependenceMutexInOutSet:
      return kExclusive;
    case kDependenceInOutSet:
      return kSets;
    default:
      return kOuts;
  }
}

/// Dependences order tasks with the same parent only. An address that no object of the target has.
const void* dependence_object(const Task& task, u64 variable, u64 kind) {
  u64 parent = task.parent ? task.parent->number : 0;
  u64 name = mix(mix(parent * kObjects + kind) ^ variable);
  return reinterpret_cast<const void*>((name | u64{3} << 62) & ~u64{7});
}

/// depend(inout : omp_all_memory): the task follows all earlier ones with a dependence, and all later ones
/// follow it.
bool is_all_memory(const Dependence& dependence) {
  return dependence.type == kDependenceOutAllMemory || dependence.type == kDependenceInOutAllMemory;
}

/// Two tasks with these kinds of dependence on one variable may run at once.
bool concurrent(Kind a, Kind b) {
  return a == b && (a == kIns || a == kSets);
}

/// A dependence as the compiler hands it over (kmp_depend_info).
struct ListedDependence {
  u64 variable;
  u64 size;
  u8 flags;

  Kind kind() const {
    if (flags & 2) return kOuts;  // out, inout
    if (flags & 4) return kExclusive;
    return flags & 8 ? kSets : flags & 1 ? kIns : kOuts;
  }
  bool all_memory() const { return flags & 0x80; }
};

}  // namespace

void acquire_dependences(const Task& task) {
  if (task.dependence_count) sync_acquire(dependence_object(task, 0, kAllMemory), 0);
  for (u32 i = 0; i < task.dependence_count; ++i) {
    const Dependence& d = task.dependences[i];
    if (is_all_memory(d)) sync_acquire(dependence_object(task, 0, kAny), 0);
    Kind own = kind_of(d.type);
    for (u64 kind = 0; kind < kKinds; ++kind) {
      if (!concurrent(own, static_cast<Kind>(kind)))
        sync_acquire(dependence_object(task, d.variable.value, kind), 0);
    }
  }
}

void release_dependences(const Task& task) {
  if (task.dependence_count) sync_release_join(dependence_object(task, 0, kAny), 0);
  for (u32 i = 0; i < task.dependence_count; ++i) {
    const Dependence& d = task.dependences[i];
    if (is_all_memory(d)) sync_release_join(dependence_object(task, 0, kAllMemory), 0);
    sync_release_join(dependence_object(task, d.variable.value, kind_of(d.type)), 0);
  }
}

void add_dependent(Task& task) {
  task.next_dependent = task.parent->dependent;
  task.parent->dependent = &task;
}

void remove_dependent(Task& task) {
  Task** link = &task.parent->dependent;
  while (*link && *link != &task) link = &(*link)->next_dependent;
  if (*link) *link = task.next_dependent;
}

bool openmp_dependences_unfinished(const Task* parent, const void* dependences, int count) {
  const auto* listed = static_cast<const ListedDependence*>(dependences);
  for (const Task* task = parent ? parent->dependent : nullptr; task; task = task->next_dependent) {
    for (u32 i = 0; i < task->dependence_count; ++i) {
      const Dependence& own = task->dependences[i];
      for (int k = 0; k < count; ++k) {
        if (listed[k].all_memory() || is_all_memory(own)) return true;
        if (listed[k].variable == own.variable.value && !concurrent(listed[k].kind(), kind_of(own.type)))
          return true;
      }
    }
  }
  return false;
}

}  // namespace duress
