// SPDX-License-Identifier: Apache-2.0
//
// Part of Verifier: work for idle workers. The explorer learns one execution after the other, and its pending
// branches alone do not keep several workers busy. So speculative explorers each copy a pending branch and
// explore its subtree ahead of time, as the explorer will when it reaches that branch. Their results are
// guesses: they are kept under the name of their plan, and the explorer, which alone decides, finds them
// there or has the plan run. (They are right unless strands get other numbers: explorer_test.cc.)
#pragma once

#include "verify/verifier.h"

namespace duress::verify {

using Origins = std::vector<exhaustive::StepLog::Origin>;

/// Gives its strands the numbers that they have in all executions; new ones are added to `origins`.
void renumber(exec::Execution& execution, Origins& origins);

/// The plan of one execution: `base`, which all have in common, with the picks that the explorer wants.
exec::Plan plan_of(exec::Plan base, const exhaustive::Explorer::Plan& wanted, const Origins& origins);
exec::Plan plan_of(exec::Plan base, const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins);
exec::Plan plan_of(exec::Plan base, const reads_from::ReadsFromExplorer::Plan& wanted,
                   const Origins& origins);
/// Plans with the same name are the same execution.
std::string name_of(const exhaustive::Explorer::Plan& wanted, const Origins& origins);
std::string name_of(const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins);
std::string name_of(const reads_from::ReadsFromExplorer::Plan& wanted, const Origins& origins);

/// Threads: one. Explorer: exhaustive::Explorer, exhaustive::GraphExplorer or
/// reads_from::ReadsFromExplorer.
template <typename Explorer>
class Verifier::SpeculativeExplorers {
 public:
  SpeculativeExplorers(Verifier& verifier, ExecutionQueue& queue);
  ~SpeculativeExplorers();

  /// Adds executions if the workers have too few, those that `explorer` wants next first.
  void send(Explorer& explorer);
  /// Strands have other numbers now: no execution that was run ahead will be asked for.
  void forget();

 private:
  struct Subtree;

  bool busy() { return queue_.unfinished() > 3 * queue_.workers(); }
  bool go_on(Subtree& subtree);

  Verifier& verifier_;
  ExecutionQueue& queue_;
  std::map<u64, std::unique_ptr<Subtree>> subtrees_;  // by serial of the pending branch; null: fully explored
};

}  // namespace duress::verify
