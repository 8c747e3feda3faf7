// SPDX-License-Identifier: Apache-2.0
//
// What one execution of a target shows: exactly one of three things. Whoever wants the execution has to ask
// first whether it is usable, so one that was cut short or lost its log cannot pass for a run without a
// finding.
#pragma once

#include <utility>
#include <variant>

#include "exec/plan.h"
#include "exec/worker_problem.h"
#include "finding/failure.h"
#include "finding/run_logs.h"

namespace duress::exec {

class Result {
 public:
  /// It came to its end, and nothing was wrong with it.
  struct Ended {
    Execution execution;
    finding::RunLogs logs;  // if they were asked for
  };
  /// The program failed.
  struct Misbehaved {
    Execution execution;
    finding::RunLogs logs;
    finding::Failure failure;  // without place and id: see finding::identify()
  };
  /// Nothing may be concluded: it did not take place, was ended from outside, or what it left is not whole.
  struct Unusable {
    WorkerProblem why;
  };

  Result(Ended ended) : result_(std::move(ended)) {}
  Result(Misbehaved misbehaved) : result_(std::move(misbehaved)) {}
  Result(Unusable unusable) : result_(std::move(unusable)) {}

  bool usable() const { return !std::holds_alternative<Unusable>(result_); }
  /// REQUIRES: not usable().
  const WorkerProblem& why() const { return std::get<Unusable>(result_).why; }

  /// REQUIRES of what follows: usable().
  Execution& execution() { return failed() ? misbehaved().execution : ended().execution; }
  finding::RunLogs& logs() { return failed() ? misbehaved().logs : ended().logs; }
  /// Null: it ended as planned.
  finding::Failure* failure() { return failed() ? &misbehaved().failure : (ended(), nullptr); }

 private:
  bool failed() const { return std::holds_alternative<Misbehaved>(result_); }
  Misbehaved& misbehaved() { return std::get<Misbehaved>(result_); }
  Ended& ended() { return std::get<Ended>(result_); }  // throws where nothing may be concluded

  std::variant<Ended, Misbehaved, Unusable> result_;
};

/// Which logs of usable executions are read; the others are removed unread.
enum class Logs { kOfFailures, kAll };

}  // namespace duress::exec
