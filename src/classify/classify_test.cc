// SPDX-License-Identifier: Apache-2.0
#include "classify/classify.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "classify/judgement.h"
#include "classify/witness.h"
#include "exec/testing/folder_test.h"
#include "exec/token_text.h"
#include "report/json_writer.h"

namespace duress::classify {
namespace {

class ClassifyTest : public exec::testing::FolderTest {
 protected:
  ClassifySetup setup(const std::string& what) {
    ClassifySetup setup;
    setup.worker.target = {DURESS_FAKE_TARGET, what};
    setup.worker.folder = folder_ + "/work";
    setup.binary = DURESS_FAKE_TARGET;
    setup.dir = folder_ + "/dir";
    setup.find.runs = 8;
    setup.find.hybrid_runs = 2;
    setup.runs = 12;
    setup.attacks = attacks();
    return setup;
  }
  void run(const ClassifySetup& setup) {
    classifier_ = std::make_unique<Classifier>(setup, names_, stop_, [&](const ClassifyProgress& progress) {
      if (stop_after_ != 0 && progress.runs >= stop_after_) stop_ = true;
    });
    ASSERT_EQ(classifier_->open(), "");
    if (classifier_->find()) classifier_->classify();
    ASSERT_EQ(classifier_->problem().text, "");
  }
  const Variable& variable() {
    EXPECT_EQ(classifier_->variables().size(), 1u);
    return classifier_->variables().begin()->second;
  }
  Verdict verdict() { return verdict_of(variable()); }
  const Rate& rate(const Verdict& verdict, const std::string& label) {
    for (const Rate& rate : verdict.rates) {
      if (rate.attack.label() == label) return rate;
    }
    ADD_FAILURE() << label;
    return verdict.rates[0];
  }
  /// Everything that must not depend on how the campaign went.
  std::string summary() {
    std::string token;
    if (const Witness* witness = variable().witness())
      token = exec::make_token(witness->plan, witness->trail, DURESS_FAKE_TARGET);
    report::Document document;
    report::RaceEntry& race = document.races.emplace_back();
    race.id = "R-0001";
    race.judgement = judgement_of(variable(), verdict(), token);
    race.judgement->confirmed = !variable().confirmed_pairs.empty();
    return report::to_json(document) + std::to_string(classifier_->runs());
  }

  finding::Names names_;
  std::atomic<bool> stop_{false};
  u64 stop_after_ = 0;
  std::unique_ptr<Classifier> classifier_;
};

TEST_F(ClassifyTest, StaleValuesThatHarm) {
  run(setup("stale"));
  Verdict found = verdict();
  EXPECT_EQ(found.kind, VerdictKind::kDestructive);
  EXPECT_EQ(found.counterfactual.runs, 12u);
  EXPECT_EQ(found.counterfactual.failed, 0u);
  EXPECT_EQ(rate(found, "stale Oldest").failed, 0u);
  EXPECT_GT(rate(found, "stale Random").failed, 0u);
  EXPECT_GT(rate(found, "stale RandomButDifferent").failed, rate(found, "stale Random").failed);
  EXPECT_EQ(rate(found, "future All").failed, 0u);
  const Witness& witness = *variable().witness();
  EXPECT_EQ(witness.by.model, ModelId::kStale);
  EXPECT_EQ(witness.failure.kind, "assertion");
  EXPECT_EQ(witness.values, 1u);
  EXPECT_EQ(witness.replayed, kReplays);
  ASSERT_EQ(witness.replaced.size(), 1u);
  EXPECT_EQ(witness.replaced[0].value[0], 0u);
  EXPECT_EQ(witness.replaced[0].newest[0], 1u);
  EXPECT_TRUE(witness.plan.predictions.empty());
  std::string shown;
  for (const std::string& line : witness.interleaving) shown += line + "\n";
  EXPECT_NE(shown.find("→ 0  (stale)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("= 1"), std::string::npos) << shown;
  EXPECT_TRUE(classifier_->complete());
  EXPECT_EQ(variable().confirmed_pairs.size(), 1u);
}

TEST_F(ClassifyTest, ValuesOfTheFutureThatHarm) {
  run(setup("future"));
  Verdict found = verdict();
  EXPECT_EQ(found.kind, VerdictKind::kDestructive);
  EXPECT_EQ(rate(found, "stale Random").failed, 0u);
  EXPECT_GT(rate(found, "future All").failed, 0u);
  EXPECT_GT(rate(found, "future Selective").failed, 0u);
  EXPECT_GT(rate(found, "future PerSite").failed, 0u);
  EXPECT_GT(rate(found, "both Random+All").failed, 0u);
  EXPECT_EQ(rate(found, "future All").discarded, 0u);
  const Witness& witness = *variable().witness();
  EXPECT_EQ(witness.by.model, ModelId::kFuture);
  EXPECT_EQ(witness.plan.predictions.size(), 1u);  // the second load's is left out
  EXPECT_EQ(witness.values, 1u);
  ASSERT_EQ(witness.replaced.size(), 1u);
  EXPECT_EQ(witness.replaced[0].future, 1u);
  EXPECT_EQ(witness.replayed, kReplays);
  std::string shown;
  for (const std::string& line : witness.interleaving) shown += line + "\n";
  EXPECT_NE(shown.find("→ 1  (future)"), std::string::npos) << shown;
}

TEST_F(ClassifyTest, ValuesThatAreNeverStoredProveNothing) {
  run(setup("broken-promise"));
  Verdict found = verdict();
  EXPECT_EQ(found.kind, VerdictKind::kNoHarmFound);
  EXPECT_GT(rate(found, "future All").discarded, 0u);
  EXPECT_EQ(rate(found, "future All").failed, 0u);
}

TEST_F(ClassifyTest, MoreWorkIsSlower) {
  run(setup("slower"));
  Verdict found = verdict();
  ASSERT_EQ(found.kind, VerdictKind::kSlower);
  EXPECT_GT(found.slower->times, 1.5);
  EXPECT_EQ(found.slower->by.model, ModelId::kStale);
}

TEST_F(ClassifyTest, WritesOfTheSameValue) {
  run(setup("same"));
  EXPECT_EQ(verdict().kind, VerdictKind::kSameValue);
}

TEST_F(ClassifyTest, OutputThatDiffersAnywayIsNoEvidence) {
  run(setup("noisy"));
  EXPECT_FALSE(verdict().output_settled);
  EXPECT_EQ(verdict().kind, VerdictKind::kNoHarmFound);
}

TEST_F(ClassifyTest, AnotherOutput) {
  ClassifySetup wanted = setup("prints");
  wanted.runs = 40;
  run(wanted);
  ASSERT_EQ(verdict().kind, VerdictKind::kDestructive);
  EXPECT_EQ(variable().witness()->failure.kind, "output");
  EXPECT_EQ(variable().witness()->replayed, kReplays);
  EXPECT_EQ(variable().extra_schedules.size(), 100u);  // other schedules were asked first

  // With a check it is the check that says what is right.
  wanted.oracle.check = "true";
  wanted.runs = 6;
  run(wanted);
  EXPECT_EQ(verdict().kind, VerdictKind::kNoHarmFound);
}

TEST_F(ClassifyTest, TheScheduleAlone) {
  run(setup("counter"));
  Verdict found = verdict();
  ASSERT_EQ(found.kind, VerdictKind::kDestructive);
  const Witness& witness = *variable().witness();
  EXPECT_EQ(witness.by.model, ModelId::kSc);
  EXPECT_EQ(witness.values, 0u);
  EXPECT_EQ(witness.switches, 1u);
  // The update is lost only where a thread is switched at the race itself. The 12 runs of the budget are too
  // few to say so.
  EXPECT_EQ(found.charge.reason, Charge::Reason::kSwitches);
  EXPECT_GT(found.counterfactual.runs, 12u);
  EXPECT_EQ(found.counterfactual.failed, 0u);
  EXPECT_LT(found.charge.chance, kMostChance);
  EXPECT_GT(found.sc_failed, 0u);
  u64 passed = 0;
  for (const ReorderedSchedule& schedule : variable().charge.reordered) passed += schedule.passed;
  EXPECT_GT(passed, 0u);
}

TEST_F(ClassifyTest, AnotherFailureIsNotTheRaces) {
  run(setup("deadlock"));
  Verdict found = verdict();
  EXPECT_EQ(found.kind, VerdictKind::kOpen);
  EXPECT_GT(found.sc_failed, 0u);
  ASSERT_TRUE(found.other_failure);
  EXPECT_EQ(found.other_failure->kind, "deadlock");
  EXPECT_TRUE(variable().other_causes.empty());
  EXPECT_TRUE(variable().witnesses.empty());
  // Other values of the counter change nothing: it deadlocks before it is loaded.
  EXPECT_EQ(variable().charge.reordered.size(), 2 * kMostReordered);  // half of them with few preemptions
  for (const ReorderedSchedule& schedule : variable().charge.reordered) EXPECT_EQ(schedule.passed, 0u);
}

TEST_F(ClassifyTest, AProgramThatAlwaysFails) {
  ClassifySetup wanted = setup("always");
  classifier_ = std::make_unique<Classifier>(wanted, names_, stop_, [](const ClassifyProgress&) {});
  ASSERT_EQ(classifier_->open(), "");
  ASSERT_TRUE(classifier_->find());
  EXPECT_EQ(classifier_->found().failed, classifier_->found().runs);
  EXPECT_EQ(classifier_->found().failure.kind, "exit:3");
}

TEST_F(ClassifyTest, OnlySomeAttacks) {
  ClassifySetup wanted = setup("stale");
  wanted.attacks = attacks_of("future", "");
  run(wanted);
  EXPECT_EQ(verdict().kind, VerdictKind::kNoHarmFound);
  EXPECT_EQ(verdict().rates.size(), 4u);
}

TEST_F(ClassifyTest, ResultsDoNotDependOnTheNumberOfJobs) {
  for (const char* what : {"stale", "future", "counter"}) {
    std::string first;
    for (unsigned jobs : {1u, 2u, 4u}) {
      ClassifySetup wanted = setup(what);
      wanted.jobs = jobs;
      run(wanted);
      if (first.empty()) first = summary();
      EXPECT_EQ(summary(), first) << what << " with " << jobs << " jobs";
    }
  }
}

TEST_F(ClassifyTest, AnInterruptedCampaignGoesOn) {
  run(setup("stale"));
  std::string whole = summary();
  u64 all = classifier_->fresh_runs();
  std::filesystem::remove_all(folder_ + "/dir");

  ClassifySetup wanted = setup("stale");
  u64 parts = 0, sum = 0;
  stop_after_ = 1;  // at the first look after a batch
  for (;; ++parts) {
    stop_ = false;
    run(wanted);
    sum += classifier_->fresh_runs();
    if (classifier_->complete()) break;
    ASSERT_LT(parts, 100u);
    stop_after_ += all / 10;
  }
  EXPECT_GT(parts, 2u);
  EXPECT_EQ(summary(), whole);
  // Most of it was not run again: only the search for races is, and what was cut in the middle.
  EXPECT_LT(sum, all + (parts + 1) * 200);
}

TEST_F(ClassifyTest, TimeIsForWhatIsOpen) {
  ClassifySetup wanted = setup("stale");
  wanted.seconds = 3600;  // it ends long before: the only variable gets its verdict
  run(wanted);
  EXPECT_EQ(verdict().kind, VerdictKind::kDestructive);
  EXPECT_TRUE(classifier_->complete());
  EXPECT_FALSE(classifier_->out_of_time());
  EXPECT_EQ(rate(verdict(), "stale Random").runs, 10u);  // one slice was enough
}

TEST_F(ClassifyTest, OutOfTime) {
  ClassifySetup wanted = setup("same");
  wanted.seconds = 0.3;
  run(wanted);
  EXPECT_TRUE(classifier_->out_of_time());
  EXPECT_FALSE(classifier_->complete());
}

TEST_F(ClassifyTest, RacesThatOnlyTheHybridDetectorSeesMustBeShown) {
  for (bool apart : {false, true}) {
    ClassifySetup wanted = setup(apart ? "apart" : "hybrid");
    exec::Oracle oracle(wanted.oracle, "");
    CampaignRecord record;
    RaceFinder finder({}, oracle, names_, record);
    wanted.worker.chain = kHybrid;
    exec::WorkerPool pool(wanted.worker, 1);
    ASSERT_TRUE(finder.run(pool, kHybrid, 4, [] { return true; }));
    ASSERT_EQ(finder.found().variables.size(), 1u);
    Variable& variable = finder.found().variables.begin()->second;
    if (!apart) variable.confirmed_pairs = variable.pairs;
    finder.drop_unconfirmed();
    EXPECT_EQ(finder.found().variables.size(), apart ? 0u : 1u);
    std::size_t races = 0;
    for (const finding::ProcessLog& process : finder.found().log.processes) races += process.races.size();
    EXPECT_EQ(races, apart ? 0u : 4u);
  }
}

TEST(WitnessText, IsReadAgain) {
  Witness witness;
  witness.accepted = true;
  witness.trial = 5;
  witness.failure.kind = "signal:SIGSEGV";
  witness.failure.identity = std::string("a\0b", 3);
  witness.output = ~u64{0};
  witness.trail = {trail::Deviation::of(3, trail::ChoiceKind::kValue, 1)};
  witness.plan.predictions = {{1, 2, 3, 8, {~u64{0}, 5}}};
  witness.replaced = {{1, 2, 4, 1, trail::ValueType::kFloat, 0, {7, 0}, {8, 0}}};
  witness.switches = 1, witness.values = 2, witness.replayed = 3, witness.replays = 4, witness.executions = 5;
  witness.interleaving = {"a │ b"};
  Witness read;
  ASSERT_TRUE(read_witness(witness_text(witness), read));
  EXPECT_EQ(witness_text(read), witness_text(witness));
  EXPECT_EQ(read.plan.predictions, witness.plan.predictions);
  EXPECT_EQ(read.failure.identity, witness.failure.identity);
  EXPECT_FALSE(read_witness("{}", read));
}

}  // namespace
}  // namespace duress::classify
