// SPDX-License-Identifier: Apache-2.0
//
// Whatever the model returns keeps the axioms: random programs of two to five threads, random schedules and
// choices, locks, things unseen, and executions so long that the model must forget. The many are in
// rc11_many_test.cc.
#include <gtest/gtest.h>

#include "memory/testing/rc11_random.h"

namespace duress::memory::testing {
namespace {

TEST(Rc11Property, WhatIsReturnedIsLegal) {
  Sampled sampled = sample(1, 40000);
  EXPECT_EQ(sampled.problem, "");
  // The executions are worth something only if the interesting things happen in them.
  EXPECT_GT(sampled.open, 15000u);
  EXPECT_GT(sampled.stale, 10000u);
  EXPECT_GT(sampled.early, 5000u);
  EXPECT_GT(sampled.seq_cst, 1000u);
  EXPECT_GT(sampled.settled, 2000u);
  EXPECT_GT(sampled.removed, 10u);
  EXPECT_GT(sampled.dropped, 500u);
}

/// Axioms that forbid nothing would pass the test above: each must have something to do.
TEST(Rc11Property, TheAxiomsTellGoodFromBad) {
  Program program = {2,
                     {{store(0, 1, kSc), load(1, kSc)}, {store(1, 1, kSc), load(0, kSc)}, {add(0, 1, kRlx)}}};
  auto graph = [&](u32 first, u32 second, u32 update, std::vector<u32> order) {
    ExecutionGraph result(2, 5);
    for (u32 t = 0; t < 3; ++t) {
      for (u32 i = 0; i < program.threads[t].size(); ++i)
        result[program.event(t, i)] = program.threads[t][i].event(t, 0);
    }
    result[3].reads = first;
    result[5].reads = second;
    result[6].reads = update;
    result.modifications(0) = std::move(order);
    result.modifications(1) = {1, 4};
    return result.violated();
  };
  EXPECT_EQ(graph(4, 2, 2, {0, 2, 6}), "");
  EXPECT_EQ(graph(4, 0, 2, {0, 2, 6}), "");
  EXPECT_EQ(graph(1, 0, 2, {0, 2, 6}), "seq_cst");
  EXPECT_EQ(graph(4, 2, 0, {0, 2, 6}), "atomicity");
  EXPECT_EQ(graph(4, 2, 2, {2, 6, 0}), "coherence");
}

}  // namespace
}  // namespace duress::memory::testing
