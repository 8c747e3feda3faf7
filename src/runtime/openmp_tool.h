// SPDX-License-Identifier: Apache-2.0
//
// As much of OpenMP's tool interface (OMPT, OpenMP 5.0 and later) as openmp_tool.cc uses, declared here so
// that the runtime builds without libomp's headers. Numbers and signatures are those of the specification.
#pragma once

#include "base/types.h"

namespace duress {

/// An OpenMP runtime tells us what it does.
extern bool g_openmp_seen;
/// The team of the calling thread's innermost region; null: none.
const void* openmp_team();
/// The group that the calling thread waits for next ends with a reduction of the whole team.
void openmp_expect_team_reduction();
/// Whether tasks have not ended yet: children of the calling thread's task, or those of its innermost group.
bool openmp_tasks_unfinished(bool of_group);
/// Whether the calling thread has made a task since it was last asked.
bool openmp_task_made();
/// Under control: whether a child of the calling thread's task has not ended that a wait with these
/// dependences (the compiler's kmp_depend_info) is for.
bool openmp_dependences_unfinished(const void* dependences, int count);

namespace ompt {

union Data {
  u64 value;
  void* pointer;
};

struct Dependence {
  Data variable;
  u32 type;
};

using Function = void();
using SetCallback = int(int event, Function* callback);

struct StartToolResult {
  int (*initialize)(Function* (*look_up)(const char*), int device, Data* tool);
  void (*finalize)(Data* tool);
  Data tool;
};

enum Event : u8 {
  kThreadBegin = 1,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kSyncRegionWait = 16,
  kDependences = 18,
  kSyncRegion = 23,
};
enum ThreadType : u32 { kThreadInitial = 1 };
enum : int { kSetSometimes = 3 };  // or more: the callback will be called
enum Endpoint : u32 { kBegin = 1, kEnd = 2 };
enum Region : u32 { kRegionTaskwait = 5, kRegionTaskgroup = 6, kRegionReduction = 7 };  // others: barriers
enum TaskFlag : int { kTaskInitial = 1, kTaskImplicit = 2 };
enum TaskStatus : u32 {
  kTaskComplete = 1,
  kTaskCancelled = 3,
  kTaskDetached = 4,
  kTaskEarlyFulfil = 5,
  kTaskLateFulfil = 6,
  kTaskwaitComplete = 8,
};
enum DependenceType : u32 {
  kDependenceIn = 1,
  kDependenceMutexInOutSet = 4,
  kDependenceInOutSet = 7,
  kDependenceOutAllMemory = 34,
  kDependenceInOutAllMemory = 35,
};

}  // namespace ompt
}  // namespace duress
