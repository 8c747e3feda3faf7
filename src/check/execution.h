// SPDX-License-Identifier: Apache-2.0
//
// Between the files of duress::check: one execution, and what explorers need besides.
#ifndef DURESS_CHECK_EXECUTION_H_
#define DURESS_CHECK_EXECUTION_H_

#include <string.h>

#include "base/text.h"
#include "duress/hooks.h"
#include "duress/test_call.h"
#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress {

inline constexpr u64 kRequestRoom = u64{16} << 20;

struct Check {
  DuressCheck* asked = nullptr;
  trail::Request* request = nullptr;
  trail::Record* record = nullptr;
  bool threw = false;
  bool abandoned = false;
  bool raced = false;  // and nothing else
  trail::Outcome outcome = trail::Outcome::kRunning;
  char what[1024] = {};
  u64 length = 0;  // the longest execution so far, in choices
};
extern constinit Check check;
extern constinit Arena check_arena;

/// Runs the closure once as check.request says. True: it failed.
bool check_execute();
exhaustive::StepLog& check_steps();
/// What an exploration leaves out, in words; null: nothing.
const char* check_bound_of(u32 limits);

inline bool is_weak(const DuressCheck& c) {
  return strcmp(c.model, "rc11") == 0;
}
/// 0: no limit.
u64 check_deadline(const DuressCheck& c);
bool check_is_late(u64 deadline);

// ---- point_learner.cc: which plain accesses are schedule points
bool learn_prepare();
void learn_execution_begins();
void learn_access(const void* p, u64 size, bool write, const DuressSite* site);

// ---- failure.cc: an execution that failed
/// The execution that just ran, as a trail to replay. False: too long to keep.
bool keep_trail();
/// Leaves out what the failure does not need: halves, quarters, ... single deviations.
void minimise(u64 budget);
void write_token(Text& text, bool learned);
/// Runs the kept trail again with every step written down, and says what happened.
void report(DuressCheck& c, u64 found_in);

// ---- explorers. True: an execution failed.
/// At random (search.cc).
bool search(DuressCheck& c);
/// Every execution that rc11 allows, until one fails; it is the last that was run.
bool explore_graphs(DuressCheck& c);

}  // namespace duress

#endif  // DURESS_CHECK_EXECUTION_H_
