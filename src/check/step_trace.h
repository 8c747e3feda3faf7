// SPDX-License-Identifier: Apache-2.0
//
// The steps of a failing execution of duress::check, recorded while it is replayed, and their interleaving as
// text, a column per thread.
#pragma once

#include "base/text.h"
#include "duress/hooks.h"
#include "sched/scheduler.h"

namespace duress {

struct TracedStep {
  static constexpr int kFrames = 6;

  u32 strand;
  Operation operation;
  u64 value;
  bool has_value;
  bool stale;  // there was a newer value
  u64 newest;
  bool stuck;            // it never got further
  bool watched;          // not a schedule point: see StepTrace::watch
  uptr frames[kFrames];  // return addresses in the executable, innermost first
  int frame_count;
};

/// While it lives, executions record their steps. At most one at a time.
class StepTrace {
 public:
  explicit StepTrace(trail::Request& request);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Accesses at these sites, which access() is called for, are steps too, though they are not schedule
  /// points.
  void watch(const DuressSite* first, const DuressSite* second);
  /// Those of these addresses are the race; the other watched accesses are left out.
  void set_race(uptr address, u32 size);

  // Callbacks of the scheduler and of hooks.
  static void step(const sched::Strand& strand);
  static void dump(sched::Strand& strand);
  static void access(const void* p, u64 size, bool write, const DuressSite* site);
  /// The value that the last step read or wrote.
  static void value(u64 value, u32 size);

  // ---- what was recorded
  static constexpr u32 kMostSteps = 20000;  // the last ones: the failure is at the end
  static constexpr u32 kNamed = 8;          // strands whose names are kept
  u64 count() const;
  const TracedStep& operator[](u64 i) const;
  u32 strands() const;
  const char* name(u32 strand) const;
  bool is_of_race(const TracedStep& step) const;

 private:
  trail::Request& request_;
};

// ---- interleaving.cc
void put_interleaving(Text& text, const StepTrace& trace);
/// The last part of a variable's name: locals are named after all functions around them.
void put_variable(Text& text, const char* name);
/// Numbers of locks and the like, as in the interleaving that was written last: lock #1, lock #2.
u32 object_number(uptr object);

}  // namespace duress
