// SPDX-License-Identifier: Apache-2.0
//
// One execution of the closure, and the state that the files of src/check share.
#pragma once

#include <string.h>

#include "base/arena.h"
#include "duress/test_call.h"
#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress {

inline constexpr u64 kRequestRoom = u64{16} << 20;

struct Check {
  DuressCheck* call = nullptr;  // options and results
  trail::Request* request = nullptr;
  trail::Record* record = nullptr;
  u64 longest = 0;                   // choices of the longest execution so far
  const char* other_race = nullptr;  // in an earlier execution than the one that failed, in one line

  // The last execution.
  bool threw = false;
  bool abandoned = false;  // strands were stuck
  bool raced = false;      // and did not fail otherwise
  trail::Outcome outcome = trail::Outcome::kRunning;
  char what[1024] = {};  // how it failed, in one line

  void set_what(const char* text, size_t size) {
    size = size < sizeof what - 1 ? size : sizeof what - 1;
    memcpy(what, text, size);
    what[size] = 0;
  }
};
extern constinit Check check;
extern constinit Arena check_arena;

/// Maps request, record and scheduler, once per process.
void prepare_executions();
/// Runs the closure once as check.request says. True: it failed.
bool execute_closure();
/// The steps of the last execution, if the request asked for them.
exhaustive::StepLog& step_log();

inline bool is_weak(const DuressCheck& c) {
  return strcmp(c.model, "rc11") == 0;
}

/// When the time that the caller allows is over.
class Deadline {
 public:
  /// 0 seconds: never.
  explicit Deadline(double seconds);
  bool passed() const;

 private:
  u64 nanoseconds_;
};

}  // namespace duress
