// SPDX-License-Identifier: Apache-2.0
//
// The two pieces of shared memory through which host and target speak of one execution (trail/execution.h).
#pragma once

#include <memory>
#include <string>

#include "exec/files.h"
#include "exec/plan.h"

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
  /// Reads what the target wrote. A crashing target may have written anything, so every count is checked.
  void take(Execution& execution) const;
  /// That the execution has taken so far; it may go on meanwhile.
  u64 steps() const;

  /// Where the target finds them while we live.
  std::string request_path() const;
  std::string record_path() const;

 private:
  Exchange() = default;
  exhaustive::StepLog* step_log() const;
  Descriptor request_file_, record_file_;
  trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
};

}  // namespace duress::exec
