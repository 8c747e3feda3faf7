// SPDX-License-Identifier: Apache-2.0
//
// Runs programs of rc11_program.h on the model, one event at a time, and records what happened as a graph.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/scoped_arena.h"
#include "memory/rc11_model.h"
#include "memory/testing/decisions.h"
#include "memory/testing/rc11_program.h"
#include "memory/testing/world.h"

namespace duress::memory::testing {

/// What an instruction makes of the value that is there.
class InstructionUpdate final : public Update {
 public:
  explicit InstructionUpdate(const Instruction& instruction) : instruction_(instruction) {}
  Change apply(u128 old) const override {
    std::optional<u64> stored = instruction_.stored(static_cast<u64>(old));
    return {stored.value_or(0), stored.has_value()};
  }

 private:
  const Instruction& instruction_;
};

class Machine final : Rc11Picker {
 public:
  static constexpr uptr kBase = 0x10000;

  Machine(const Program& program, Decisions& decisions,
          Rc11Model::Options options = {.fair_after = 0, .buckets = 4});
  ~Machine();

  /// To the end.
  void run();
  /// Now and then, with a probability of 1 in `n`, something unseen happens to a location before a step.
  void disturb(u64 seed, u64 n) {
    prng_ = Prng(seed);
    disturb_ = n;
  }

  const ExecutionGraph& graph() const { return graph_; }
  std::string outcome() const { return outcome_text(program_, graph_, read_, written_); }
  Rc11Model& model() { return model_; }
  u64 reads() const { return reads_; }

 private:
  u32 read(const Legal& legal) override;
  u32 place(u32 places, u32 forward) override;
  void step(u32 thread);
  u32 event_of(u64 store, u32 location);
  void got(u32 event, const Rc11Model::Read& read);
  void wrote(u32 event, const Rc11Model::Written& written, u64 value);

  const Program& program_;
  Decisions& decisions_;
  ScopedArena arena_;
  Threads threads_;
  Rc11Model model_;
  ExecutionGraph graph_;
  std::vector<u32> next_;  // instruction, by thread
  std::vector<u64> memory_, read_, written_;
  std::vector<ReleaseClock> released_;
  ReleaseClock locks_[4];
  u32 lock_events_[4] = {ExecutionGraph::kNothing, ExecutionGraph::kNothing, ExecutionGraph::kNothing,
                         ExecutionGraph::kNothing};
  std::unordered_map<u64, u32> events_;  // by the model's id of a store
  u64 reads_ = 0;
  Prng prng_{1};
  u64 disturb_ = 0;
};

/// Every execution of the program on the model, by going back to the last decision that has another answer.
Results executed(const Program& program);

}  // namespace duress::memory::testing
