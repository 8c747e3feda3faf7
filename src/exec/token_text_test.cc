// SPDX-License-Identifier: Apache-2.0
#include "exec/token_text.h"

#include <gtest/gtest.h>

#include "exec/files.h"

namespace duress::exec {
namespace {

TEST(TokenText, PlanToTokenAndBack) {
  Plan plan;
  plan.head.seed = 99;
  plan.head.points = trail::Points::kAll;
  plan.head.most_steps = 5000;
  plan.head.detect = trail::Detect::kRaces;
  plan.sites = {7, 8, 9};
  plan.pairs = {{7, 8}};
  Trail trail = {trail::Deviation::of(4, trail::ChoiceKind::kThread, 2),
                 trail::Deviation::of(9, trail::ChoiceKind::kValue, 1)};
  std::string token = make_token(plan, trail, "/some/where/prog");
  TokenText back = read_token_text(token);
  ASSERT_EQ(back.error, "");
  EXPECT_EQ(back.program, "prog");
  EXPECT_EQ(back.plan.head.strategy, StrategyId::kReplay);
  EXPECT_EQ(back.plan.head.seed, 99u);
  EXPECT_EQ(back.plan.head.points, trail::Points::kAll);
  EXPECT_EQ(back.plan.head.most_steps, 5000u);
  EXPECT_EQ(back.plan.head.detect, trail::Detect::kNothing);
  EXPECT_EQ(back.plan.sites, plan.sites);
  EXPECT_EQ(back.plan.trail, trail);
  EXPECT_EQ(check_token_program(back, "./prog"), "");
  EXPECT_EQ(check_token_program(back, "./other"), "the token is of the program 'prog', not of './other'");
}

TEST(TokenText, TheModelIsPartOfIt) {
  Plan plan;
  for (ModelId model : {ModelId::kSc, ModelId::kStale, ModelId::kRc11}) {
    trail::Detect detect = model == ModelId::kStale ? trail::Detect::kClocks : trail::Detect::kNothing;
    plan.head.model = model;
    TokenText back = read_token_text(make_token(plan, {}, "prog"));
    ASSERT_EQ(back.error, "");
    EXPECT_EQ(back.plan.head.model, model);
    EXPECT_EQ(back.plan.head.detect, detect);
    EXPECT_EQ(plan.replaying({}).head.detect, detect);
  }
}

TEST(TokenText, MemoryErrorsArePartOfIt) {
  Plan plan;
  plan.head.memory = true;
  TokenText back = read_token_text(make_token(plan, {}, "prog"));
  ASSERT_EQ(back.error, "");
  EXPECT_TRUE(back.plan.head.memory);
  EXPECT_EQ(back.plan.head.detect, trail::Detect::kClocks);
  EXPECT_EQ(plan.replaying({}).head.detect, trail::Detect::kClocks);
}

TEST(TokenText, EndsOfWaitsArePartOfIt) {
  Plan plan;
  plan.head.systematic = true;
  plan.head.spurious = 1;
  plan.head.timeouts = 2;
  TokenText back = read_token_text(make_token(plan, {}, "prog"));
  ASSERT_EQ(back.error, "");
  EXPECT_EQ(back.plan.head.spurious, 1u);
  EXPECT_EQ(back.plan.head.timeouts, 2u);
}

TEST(TokenText, ErrorsAreOneLine) {
  EXPECT_NE(read_token_text("nonsense").error.find("is not a replay token"), std::string::npos);
  EXPECT_EQ(read_token_text("D7.prog.AAAA").error, "token of version 7, this duress reads 1");
  EXPECT_NE(read_token_text("D1.prog.AAAA").error.find("damaged"), std::string::npos);
  EXPECT_NE(read_token_text("@/no/such/file").error.find("cannot read"), std::string::npos);
  EXPECT_NE(read_token_text("").error, "");
}

TEST(TokenText, Files) {
  Plan plan;
  std::string path = testing::TempDir() + "test.trail", token = make_token(plan, {}, "prog");
  ASSERT_EQ(write_file(path, trail_file_text("F-12ab", token)), "");
  EXPECT_EQ(read_token_text("@" + path).error, "");
  EXPECT_EQ(read_token_text("@" + path).program, "prog");
  ASSERT_EQ(write_file(path, "# only a comment\n\n"), "");
  EXPECT_NE(read_token_text("@" + path).error, "");
}

}  // namespace
}  // namespace duress::exec
