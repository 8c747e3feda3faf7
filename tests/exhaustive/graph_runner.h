// SPDX-License-Identifier: Apache-2.0
//
// Runs programs of memory/testing/rc11_program.h as a graph explorer plans, or in every way.
#pragma once

#include <set>
#include <vector>

#include "exhaustive/graph_explorer.h"
#include "rc11_memory.h"

namespace duress::exhaustive::testing {

using memory::testing::Program;

/// kAcquire and kRelease of a location are lock and unlock of a mutex here.
class GraphRunner final : memory::Rc11Picker {
 public:
  explicit GraphRunner(const Program& program);

  /// As the plan says, then the lowest thread that can go on.
  void run(const GraphExplorer::Plan& plan);
  /// Every thread and every value as decided.
  void run(memory::testing::Decisions& decisions);

  std::vector<Step> steps;
  u32 limits = 0;
  bool stuck = false;

 private:
  bool over(u32 t) const { return next_[t] == program_.threads[t].size(); }
  const Instruction& mine(u32 t) const { return program_.threads[t][next_[t]]; }
  bool can_go(u32 t) const;
  u32 read(const memory::Legal& legal) override;
  u32 place(u32 places, u32) override;
  u32 legal_index(std::optional<u32> index);
  void fences(u32 t);
  void step(u32 t);
  void access(u32 t, Step& s);

  const Program& program_;
  Rc11Memory memory_;
  std::set<u32> held_;
  std::vector<u32> next_;
  u32 wanted_ = 0;
  memory::testing::Decisions* decisions_ = nullptr;
};

}  // namespace duress::exhaustive::testing
