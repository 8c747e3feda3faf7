// SPDX-License-Identifier: Apache-2.0
//
// Explores all executions of a program of testing/program.h, and compares with brute force.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/scoped_arena.h"
#include "exhaustive/explorer.h"
#include "exhaustive/testing/brute_force.h"

namespace duress::exhaustive::testing {

struct Seen {
  std::set<std::string> classes;
  u64 executions = 0, twice = 0, redundant = 0, diverged = 0, most_nodes = 0, nodes_left = 0;
};

/// What is not planned is chosen by the generator; seed 0: the lowest thread.
inline Seen explore(const Program& program, u64 seed) {
  Seen seen;
  ScopedArena arena;
  {
    Explorer explorer(arena);
    Prng prng(seed);
    size_t threads = program.threads.size();
    for (Explorer::Plan plan; explorer.next(&plan);) {
      Machine machine(program);
      for (u32 i = 0;; ++i) {
        std::vector<u32> ready = machine.enabled_threads();
        if (ready.empty()) break;
        u32 t = ready[seed ? prng.below(ready.size()) : 0], value = 0;
        if (i < plan.count) {
          t = plan.picks[i].strand;
          value = plan.picks[i].value;
          if (std::find(ready.begin(), ready.end(), t) == ready.end()) {
            ADD_FAILURE() << "a plan that cannot be followed";
            return seen;
          }
        } else if (u64 choices = machine.choices(t)) {
          for (u64 skip = prng.below(u64(__builtin_popcountll(choices))); skip > 0; --skip)
            choices &= choices - 1;
          value = 1 + u32(__builtin_ctzll(choices));
        }
        machine.run(t, value);
      }
      std::vector<Step> history = machine.history();
      seen.executions += machine.counts();
      if (machine.counts()) seen.twice += !seen.classes.insert(class_of(history, threads)).second;
      explorer.learn(plan.ticket, history.data(), u32(history.size()));
      seen.most_nodes = std::max(seen.most_nodes, explorer.nodes());
    }
    EXPECT_TRUE(explorer.done());
    seen.nodes_left = explorer.nodes();
    seen.redundant = explorer.redundant();
    seen.diverged = explorer.diverged();
  }
  return seen;
}

/// The explorer sees what brute force sees, each class once. False: too many interleavings.
inline bool matches_brute_force(const Program& program, u64 seed, u64 budget = 1500) {
  std::set<std::string> classes;
  if (!brute_force(Machine(program), program.threads.size(), classes, budget)) return false;
  Seen seen = explore(program, seed);
  bool right = seen.classes == classes && seen.twice == 0 && seen.redundant == 0 && seen.diverged == 0;
  EXPECT_TRUE(right) << text_of(program) << classes.size() << " classes, seen " << seen.classes.size()
                     << ", twice " << seen.twice << ", redundant " << seen.redundant << ", diverged "
                     << seen.diverged;
  return right;
}

}  // namespace duress::exhaustive::testing
