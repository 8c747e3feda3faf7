// SPDX-License-Identifier: Apache-2.0
//
// The two files through which host and target speak of one execution (trail/execution.h), mapped.
#ifndef DURESS_EXEC_EXCHANGE_H_
#define DURESS_EXEC_EXCHANGE_H_

#include <memory>
#include <string>

#include "exec/plan.h"

namespace duress::exec {

class Exchange {
 public:
  /// Makes both files: in memory where there is room, else in `folder`. Null and an error if that fails.
  static std::unique_ptr<Exchange> make(const std::string& folder, std::string& error);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Writes the request and clears the record; false if the plan is too long for the file.
  bool put(const Plan& plan);
  /// Reads what the target wrote. A crashing target may have written anything, so every count is checked.
  void take(Execution& execution) const;

  const std::string& request_path() const { return request_path_; }
  const std::string& record_path() const { return record_path_; }

 private:
  Exchange() = default;
  exhaustive::StepLog* step_log() const;
  std::string request_path_, record_path_;
  trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
};

}  // namespace duress::exec

#endif  // DURESS_EXEC_EXCHANGE_H_
