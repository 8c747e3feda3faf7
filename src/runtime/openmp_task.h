// SPDX-License-Identifier: Apache-2.0
//
// What is known of OpenMP's teams and tasks: made by the callbacks of openmp_tool.cc.
#pragma once

#include <atomic>

#include "runtime/openmp_tool.h"

namespace duress {

/// A team of threads. The fields are objects of synchronisation: their addresses count.
struct Team {
  u64 begin = 0;
  u64 barriers[2] = {};  // used in turn: who leaves one may arrive at the next before all have left
  u64 parts = 0;         // of a reduction(task, ...): all threads have theirs when the last one combines them
};

struct Group {
  u64 ended = 0;
  Group* outer = nullptr;
  std::atomic<u32> unfinished{0};  // tasks
};

struct Task {
  u64 begin = 0;     // released by the creator, and when an untied task is put aside
  u64 children = 0;  // released by each child's end
  Task* parent = nullptr;
  Team* team = nullptr;
  Group* group = nullptr;
  Task* outer = nullptr;  // of an implicit task: that of the same thread outside the region
  const ompt::Dependence* dependences = nullptr;
  u32 dependence_count = 0;
  u32 barrier = 0;  // of an implicit task: which one comes next
  u64 number = 0;
  std::atomic<u32> references{1};  // itself, and its children
  std::atomic<u32> unfinished{0};  // children
  // Under control, where one thread runs at a time: children with dependences that have not ended.
  Task* dependent = nullptr;
  Task* next_dependent = nullptr;
};

/// It follows the ends of the tasks that its dependences name.
void acquire_dependences(const Task& task);
/// Its own end, for those that depend on it.
void release_dependences(const Task& task);
/// Under control: a child of its parent with dependences begins to count, and ends.
void add_dependent(Task& task);
void remove_dependent(Task& task);
bool openmp_dependences_unfinished(const Task* parent, const void* dependences, int count);

}  // namespace duress
