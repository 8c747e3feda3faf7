// SPDX-License-Identifier: Apache-2.0
//
// The two pieces of shared memory through which host and target speak of one execution (trail/execution.h).
#pragma once

#include <memory>
#include <string>

#include "exec/files.h"
#include "exec/plan.h"
#include "trail/ahead.h"

namespace duress::exec {

class Exchange {
 public:
  /// Null and an error if there is no memory.
  static std::unique_ptr<Exchange> make(std::string& error);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Writes the request and clears the record; false if the plan is too long for the file. `may_skip_known`:
  /// whether Request::skip_known holds.
  bool put(const Plan& plan, bool may_skip_known = true);
  /// Hands over further executions that follow that one at once (trail/ahead.h), as many as there is room
  /// for. Returns how many. REQUIRES: `plan` was put, and all have its origins and spins.
  u32 put_ahead(const std::vector<Plan>& plans, bool may_skip_known);
  /// Reads what the target wrote. A crashing target may have written anything, so every count is checked.
  void take(Execution& execution) const;
  /// How many executions of those put last have been performed, but for the one that take() reads.
  u32 performed() const;
  /// Reads the `index`-th of them. False: the target wrote over it. `plan`: what was put.
  bool take_ahead(u32 index, const Plan& plan, Execution& execution) const;
  /// That the execution has taken so far; it may go on meanwhile.
  u64 steps() const;

  /// Where the target finds them while we live.
  std::string request_path() const;
  std::string record_path() const;

 private:
  Exchange() = default;
  exhaustive::StepLog* step_log() const;
  trail::Ahead& ahead() const;
  Descriptor request_file_, record_file_;
  trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
  u32 count_ = 0;    // of executions ahead
  u64 results_ = 0;  // Ahead::results
};

}  // namespace duress::exec
