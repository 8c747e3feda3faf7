// SPDX-License-Identifier: Apache-2.0
//
// The inside of Verifier: what to give to workers that would have nothing to do. The explorer learns one
// execution after the other, and what waits in its tree is soon run. So scouts, explorers of their own, each
// begin with something that waits and go on below it, as the explorer will when that has its turn. They are
// guesses: what they have run is kept under the name of its plan, and the explorer, which alone decides,
// finds it there or has it run. (They are right unless strands get other numbers: explorer_test.cc.)
#ifndef DURESS_VERIFY_SPECULATION_H_
#define DURESS_VERIFY_SPECULATION_H_

#include "verify/execution_pool.h"

namespace duress::verify {

using Origins = std::vector<exhaustive::StepLog::Origin>;

/// Gives its strands the numbers that they have in all executions; new ones are added to `origins`.
void renumber(exec::Execution& execution, Origins& origins);

/// `base`, which every execution has, with what the explorer wants of this one.
exec::Plan plan_of(exec::Plan base, const exhaustive::Explorer::Plan& wanted, const Origins& origins);
exec::Plan plan_of(exec::Plan base, const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins);
/// Plans of the same name are of the same execution.
std::string name_of(const exhaustive::Explorer::Plan& wanted, const Origins& origins);
std::string name_of(const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins);

/// Threads: one. Explorer: exhaustive::Explorer or exhaustive::GraphExplorer.
template <typename Explorer>
class Verifier::Scouts {
 public:
  Scouts(Verifier& verifier, Pool& pool);
  ~Scouts();

  /// Gives the pool something to do if it has less than it could do, what `explorer` wants next first.
  void send(Explorer& explorer);
  /// Strands have other numbers now: nothing that was run ahead will be asked for.
  void forget();

 private:
  struct Scout;

  bool busy() { return pool_.unfinished() > 3 * pool_.width(); }
  bool go_on(Scout& scout);

  Verifier& verifier_;
  Pool& pool_;
  std::map<u64, std::unique_ptr<Scout>> scouts_;  // by the serial of what waits; null: it has seen all
};

}  // namespace duress::verify

#endif  // DURESS_VERIFY_SPECULATION_H_
