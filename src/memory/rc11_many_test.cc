// SPDX-License-Identifier: Apache-2.0
//
// More than a million values that the model returned, each execution held to the axioms; and all executions
// of larger random programs against those that the axioms allow.
#include <gtest/gtest.h>

#include "memory/testing/rc11_random.h"

namespace duress::memory::testing {
namespace {

TEST(Rc11Many, WhatIsReturnedIsLegal) {
  Sampled sampled = sample(1'000'000, 1'100'000);
  EXPECT_EQ(sampled.problem, "");
  EXPECT_GE(sampled.reads, 1'100'000u);
  EXPECT_GT(sampled.stale, 300'000u);
  RecordProperty("executions", static_cast<int>(sampled.executions));
  RecordProperty("reads", static_cast<int>(sampled.reads));
  RecordProperty("stale", static_cast<int>(sampled.stale));
  RecordProperty("early", static_cast<int>(sampled.early));
}

TEST(Rc11Many, LargerProgramsHaveTheSameExecutions) {
  u64 graphs = 0;
  for (u64 seed = 1; seed <= 600; ++seed) {
    Prng prng(seed);
    u32 threads = 2 + static_cast<u32>(prng.below(3));
    Program program = random_program(prng, threads, 6 + static_cast<u32>(seed % 20 == 0), 3);
    Results machine = executed(program), axioms = declared(program);
    ASSERT_EQ(machine.graphs, axioms.graphs) << "seed " << seed << "\n" << program.text();
    graphs += axioms.graphs.size();
  }
  EXPECT_GT(graphs, 5000u);
}

}  // namespace
}  // namespace duress::memory::testing
