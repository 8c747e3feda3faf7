// SPDX-License-Identifier: Apache-2.0
#include "classify/verdict.h"

#include <gtest/gtest.h>

namespace duress::classify {
namespace {

constexpr u64 kTrials = 20;

Trial passing(u64 steps = 100, u64 output = 1) {
  Trial trial;
  trial.steps = steps;
  trial.output = output;
  trial.stores = 2;
  trial.changing_stores = 1;
  return trial;
}

Trial failing(const std::string& id = "F-0001", const std::string& kind = "assertion") {
  Trial trial = passing();
  trial.outcome = TrialOutcome::kFailed;
  trial.failure.kind = kind;
  trial.failure.id = id;
  return trial;
}

TrialList list(u64 count, const Trial& trial) {
  return TrialList(count, trial);
}

/// A variable that was attacked in every way, and nothing happened.
Variable quiet() {
  Variable variable;
  variable.name = "x";
  variable.sc = list(kTrials, passing());
  for (const Attack& attack : attacks())
    variable.by.push_back({attack, list(std::min(kTrials, attack.most_trials), passing())});
  variable.decided = true;
  return variable;
}

TrialList& of(Variable& variable, const std::string& label) {
  for (auto& [attack, trials] : variable.by) {
    if (attack.label() == label) return trials;
  }
  ADD_FAILURE() << label;
  return variable.sc;
}

u64 failed(const Variable& variable, const std::string& label) {
  for (const Rate& rate : rates_of(variable)) {
    if (rate.attack.label() == label) return rate.failed;
  }
  ADD_FAILURE() << label;
  return 0;
}

TEST(Verdict, NothingHappened) {
  Variable variable = quiet();
  Verdict verdict = verdict_of(variable);
  EXPECT_EQ(verdict.kind, VerdictKind::kNoHarmFound);
  EXPECT_EQ(verdict.runs, kTrials * 11 + 4);  // the baseline, ten attacks, four unfair trials
  EXPECT_TRUE(candidates_of(variable).empty());
}

TEST(Verdict, OpenUntilEveryAttackHadItsTurn) {
  Variable variable = quiet();
  variable.decided = false;
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kOpen);
}

TEST(Verdict, AFailureIsEvidenceAndOnlyAWitnessDestructive) {
  Variable variable = quiet();
  of(variable, "stale Random")[7] = failing();
  ASSERT_EQ(candidates_of(variable).size(), 1u);
  EXPECT_EQ(candidates_of(variable)[0].trial, 7u);
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kOpen);
  EXPECT_EQ(verdict_of(variable).evidence, 1u);

  Witness witness;
  witness.by = candidates_of(variable)[0].attack;
  witness.trial = 7;
  variable.witnesses.push_back(witness);  // it did not come again
  EXPECT_TRUE(candidates_of(variable).empty());
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kNoHarmFound);

  variable.witnesses.back().accepted = true;
  variable.witnesses.back().values = 1;
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kDestructive);
  EXPECT_EQ(verdict_of(variable).counterfactual.runs, kTrials);
  EXPECT_EQ(verdict_of(variable).counterfactual.failed, 0u);
}

TEST(Verdict, WhatTheSameSeedDoesUnderScIsNoEvidence) {
  Variable variable = quiet();
  variable.sc[3] = failing();
  of(variable, "stale Oldest")[3] = failing();
  EXPECT_EQ(failed(variable, "stale Oldest"), 0u);
  EXPECT_TRUE(candidates_of(variable).empty());
}

TEST(Verdict, AFailureThatComesAnywayIsEvidenceOnlyIfItComesMoreOften) {
  Variable variable = quiet();
  variable.program_failures = {"F-0001"};  // in trials of another variable
  for (u64 i = 0; i < 8; ++i) of(variable, "stale Oldest")[i] = failing();
  EXPECT_TRUE(candidates_of(variable).empty());  // 8 of 20 against 0 of 20: 0.0016
  of(variable, "stale Oldest")[8] = failing();
  EXPECT_EQ(candidates_of(variable).size(), 9u);  // 0.0006
}

TEST(Verdict, AProgramThatFailsForOtherReasonsIsNotJudged) {
  Variable variable = quiet();
  variable.sc[3] = failing();
  Verdict verdict = verdict_of(variable);
  EXPECT_EQ(verdict.kind, VerdictKind::kOpen);
  ASSERT_TRUE(verdict.other_failure);
  EXPECT_EQ(verdict.other_failure->id, "F-0001");
  EXPECT_EQ(verdict.evidence, 0u);
  EXPECT_FALSE(verdict_of(quiet()).other_failure);
}

TEST(Verdict, TheMostTellingFirst) {
  Variable variable = quiet();
  of(variable, "stale Oldest")[0] = passing(100, 99);  // another output
  of(variable, "stale Oldest unfair")[0] = failing("F-0002");
  of(variable, "future PerSite")[2] = failing("F-0003");
  of(variable, "sc racefuzzer") = list(kTrials, failing("F-0004"));
  variable.no_switch_runs = list(kTrials, passing());
  variable.charge.reordered = {{baseline(), 0, "F-0004", 1, 1, 1}};
  std::vector<Candidate> candidates = candidates_of(variable);
  ASSERT_EQ(candidates.size(), kTrials + 3);
  candidates.erase(candidates.begin() + 1, candidates.begin() + kTrials);
  EXPECT_EQ(candidates[0].failure.id, "F-0004");
  EXPECT_EQ(candidates[1].failure.id, "F-0003");
  EXPECT_EQ(candidates[2].failure.id, "F-0002");
  EXPECT_EQ(candidates[3].failure.kind, "output");
  EXPECT_EQ(candidates[3].output, 99u);
  EXPECT_FALSE(only_output(candidates));
}

TEST(Verdict, AnotherOutputIsAFailure) {
  Variable variable = quiet();
  variable.sc[1]->output = 2;
  of(variable, "stale Oldest")[4] = passing(100, 2);
  EXPECT_TRUE(candidates_of(variable).empty());
  of(variable, "stale Oldest")[5] = passing(100, 3);
  ASSERT_EQ(candidates_of(variable).size(), 1u);
  EXPECT_TRUE(only_output(candidates_of(variable)));
  EXPECT_EQ(failed(variable, "stale Oldest"), 1u);

  // Some schedule prints it too.
  variable.extra_schedules = list(10, passing(100, 3));
  EXPECT_TRUE(candidates_of(variable).empty());
  variable.extra_schedules.clear();
  of(variable, "sc racefuzzer")[0] = passing(100, 3);
  EXPECT_TRUE(candidates_of(variable).empty());
}

TEST(Verdict, OutputThatKeepsChangingIsNoEvidence) {
  Variable variable = quiet();
  for (u64 i = 0; i < kTrials; ++i) variable.sc[i]->output = 1000 + i;
  of(variable, "stale Oldest")[5] = passing(100, 3);
  EXPECT_FALSE(outputs_of(variable).settled);
  EXPECT_FALSE(verdict_of(variable).output_settled);
  EXPECT_TRUE(candidates_of(variable).empty());
  // A few outputs that all came early are a set.
  for (u64 i = 0; i < kTrials; ++i) variable.sc[i]->output = 1000 + i % 3;
  EXPECT_TRUE(outputs_of(variable).settled);
  EXPECT_EQ(candidates_of(variable).size(), 1u);
}

TEST(Verdict, DiscardedTrialsProveNothing) {
  Variable variable = quiet();
  for (auto& trial : of(variable, "future All")) trial->outcome = TrialOutcome::kDiscarded;
  for (auto& trial : of(variable, "future PerSite")) trial->outcome = TrialOutcome::kNothing;
  for (const Rate& rate : rates_of(variable)) {
    if (rate.attack.label() == "future All") {
      EXPECT_EQ(rate.discarded, kTrials);
      EXPECT_EQ(rate.runs, 0u);
    }
    if (rate.attack.label() == "future PerSite") {
      EXPECT_EQ(rate.discarded, 0u);
      EXPECT_EQ(rate.runs, 0u);
    }
  }
  EXPECT_EQ(verdict_of(variable).runs, kTrials * 9 + 4);
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kNoHarmFound);
}

TEST(Verdict, SlowerIfTheMedianOfTheWorkGrew) {
  Variable variable = quiet();
  for (auto& trial : variable.sc) trial->steps = 1000;
  for (u64 i = 0; i < kTrials; ++i) of(variable, "stale Random")[i]->steps = i < 9 ? 1000 : 1600;
  ASSERT_TRUE(slower_of(variable));
  EXPECT_EQ(slower_of(variable)->by.label(), "stale Random");
  EXPECT_DOUBLE_EQ(slower_of(variable)->times, 1.6);
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kSlower);

  for (u64 i = 0; i < kTrials; ++i) of(variable, "stale Random")[i]->steps = i < 11 ? 1000 : 1600;
  EXPECT_FALSE(slower_of(variable));
  for (u64 i = 0; i < kTrials; ++i) of(variable, "stale Random")[i]->steps = 1499;
  EXPECT_FALSE(slower_of(variable));
  // Half as much again of very little is nothing.
  Variable tiny = quiet();
  for (u64 i = 0; i < kTrials; ++i) of(tiny, "stale Random")[i]->steps = 190;
  EXPECT_FALSE(slower_of(tiny));
  // Where schedules alone make as much work, nothing is the values' fault.
  for (u64 i = 0; i < kTrials; ++i) of(variable, "stale Random")[i]->steps = 1600;
  variable.sc[0]->steps = 1700;
  EXPECT_FALSE(slower_of(variable));
  // A load that is stale for ever makes work for ever: no evidence of slowness.
  variable = quiet();
  of(variable, "stale Oldest unfair")[0]->steps = 100000;
  EXPECT_FALSE(slower_of(variable));
}

TEST(Verdict, SameValueIfNoStoreEverChangedAnything) {
  Variable variable = quiet();
  auto each = [&](auto change) {
    for (auto& trial : variable.sc) change(*trial);
    for (auto& [attack, trials] : variable.by) {
      for (auto& trial : trials) change(*trial);
    }
  };
  each([](Trial& trial) { trial.changing_stores = 0; });
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kSameValue);
  of(variable, "future All")[3]->changing_stores = 1;
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kNoHarmFound);
  each([](Trial& trial) { trial.stores = trial.changing_stores = 0; });  // none was seen
  EXPECT_EQ(verdict_of(variable).kind, VerdictKind::kNoHarmFound);
}

TEST(Verdict, NotMoreThanAFewWitnessesAreLookedAt) {
  Variable variable = quiet();
  of(variable, "stale Oldest") = list(kTrials, failing());
  std::size_t looked = 0;
  for (; !candidates_of(variable).empty(); ++looked) {
    Witness witness;
    witness.by = candidates_of(variable)[0].attack;
    witness.trial = candidates_of(variable)[0].trial;
    variable.witnesses.push_back(witness);
  }
  EXPECT_EQ(looked, kMostWitnesses);
}

}  // namespace
}  // namespace duress::classify
