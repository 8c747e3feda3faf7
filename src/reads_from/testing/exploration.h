// SPDX-License-Identifier: Apache-2.0
//
// Explores a tiny program by reads-from classes, and compares with brute force.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.h"
#include "base/scoped_arena.h"
#include "exhaustive/testing/random_programs.h"
#include "reads_from/reads_from_explorer.h"
#include "reads_from/testing/classes.h"

namespace duress::reads_from::testing {

using exhaustive::testing::Machine;
using exhaustive::testing::Program;

struct Seen {
  std::map<std::string, std::string> classes;  // with their outcomes
  u64 runs = 0, counted = 0, twice = 0, diverged = 0, restarts = 0;
  bool supported = true;
};

/// An execution that follows the plan. What is not planned is chosen by the generator; null: the lowest.
inline std::vector<exhaustive::Step> run(const Program& program, const ReadsFromExplorer::Plan& plan,
                                         Prng* prng) {
  Machine machine(program);
  for (u32 i = 0;; ++i) {
    std::vector<u32> ready = machine.enabled_threads();
    if (ready.empty()) return machine.history();
    u32 t = ready[prng ? prng->below(ready.size()) : 0], value = 0;
    if (i < plan.count) {
      t = plan.picks[i].strand;
      value = plan.picks[i].value;
      if (std::find(ready.begin(), ready.end(), t) == ready.end()) return machine.history();
    } else if (u64 choices = machine.choices(t)) {
      value = 1 + static_cast<u32>(__builtin_ctzll(choices));
    }
    machine.run(t, value);
  }
}

inline Seen explore_classes(const Program& program, u64 seed, u64 most = ~u64{0}) {
  Seen seen;
  Ordered ordered;
  using Learned = ReadsFromExplorer::Learned;
  for (bool again = true; again; ++seen.restarts) {
    again = false;
    seen.classes.clear();
    seen.runs = seen.counted = seen.twice = seen.diverged = 0;
    ScopedArena arena;
    ReadsFromExplorer explorer(arena);
    explorer.use_ordered(&ordered);
    Prng prng(seed);
    for (ReadsFromExplorer::Plan plan; seen.runs < most && explorer.next(&plan);) {
      std::vector<exhaustive::Step> history = run(program, plan, seed ? &prng : nullptr);
      ++seen.runs;
      switch (explorer.learn(plan.ticket, history.data(), static_cast<u32>(history.size()))) {
        case Learned::kNew:
          ++seen.counted;
          seen.twice += !seen.classes
                             .emplace(class_of(history, program.threads.size()),
                                      outcome_of(history, program.threads.size()))
                             .second;
          break;
        case Learned::kDiverged:
          ++seen.diverged;
          break;
        case Learned::kNewOrdered:
          again = true;
          break;
        case Learned::kNotSupported:
          seen.supported = false;
          return seen;
        case Learned::kKnown:
        case Learned::kRefuted:
          break;
      }
      if (again) break;
    }
  }
  return seen;
}

struct Totals {
  u64 programs = 0, executions = 0, runs = 0;
};

/// The explorer counts the classes that brute force sees, each once. False: too many interleavings.
inline bool matches_brute_force(const Program& program, u64 seed, u64 budget, Totals& totals) {
  std::map<std::string, std::string> classes;
  if (!brute_force(Machine(program), program.threads.size(), classes, budget)) return false;
  Seen seen = explore_classes(program, seed, 20'000);
  EXPECT_TRUE(seen.supported);
  bool right = seen.classes == classes && seen.twice == 0 && seen.diverged == 0;
  EXPECT_TRUE(right) << text_of(program) << classes.size() << " classes, seen " << seen.classes.size()
                     << ", twice " << seen.twice << ", diverged " << seen.diverged << ", runs " << seen.runs;
  for (const auto& [text, outcome] : classes) {
    if (!seen.classes.count(text)) EXPECT_TRUE(false) << "missed:\n" << text;
  }
  ++totals.programs;
  totals.executions += seen.counted;
  totals.runs += seen.runs;
  return right;
}

}  // namespace duress::reads_from::testing
