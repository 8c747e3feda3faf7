// SPDX-License-Identifier: Apache-2.0
#include "search/search.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "exec/testing/folder_test.h"
#include "exec/token_text.h"

namespace duress::search {
namespace {

/// Asks the search to stop once so many runs are done. Never while a failure is minimised; but one that was
/// found in the round that is stopped is minimised after that, and then kept as far as that came by the next
/// look at `stop`, which is a matter of speed.
struct Stopper : SearchListener {
  std::atomic<bool> stop{false};
  u64 resumed_at = 0;
  u64 stop_after = ~u64{0};
  void resumed(u64 run, const std::vector<std::string>&) override { resumed_at = run; }
  void progress(const Progress& progress) override {
    if (progress.fresh_runs >= stop_after && *progress.phase == 0) stop = true;
  }
};

class SearchTest : public exec::testing::FolderTest {
 protected:
  SearchSetup setup(const std::string& what) {
    SearchSetup setup;
    setup.worker.target = {DURESS_FAKE_TARGET, what};
    setup.worker.folder = folder_ + "/work";
    setup.dir = folder_ + "/dir";
    setup.runs = 200;
    return setup;
  }
  SearchResult run(const SearchSetup& setup) {
    finding::Names names;
    return Search(setup, names, listener_).run(listener_.stop);
  }
  static std::string summary(const SearchResult& result) {
    std::string text = std::to_string(result.runs) + " runs";
    for (const Found& found : result.found)
      text += "; " + found.failure.id + " run " + std::to_string(found.run) + " " + found.token;
    return text;
  }
  /// The same failures in the same runs, and the same tokens where minimising came to its end.
  static void expect_same(const std::vector<Found>& found, const std::vector<Found>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].failure.id, expected[i].failure.id);
      EXPECT_EQ(found[i].run, expected[i].run);
      EXPECT_TRUE(expected[i].fewest);
      if (found[i].fewest) {
        EXPECT_EQ(found[i].token, expected[i].token);
      } else {
        EXPECT_GE(found[i].switches, expected[i].switches);
      }
    }
  }
  Stopper listener_;
};

TEST_F(SearchTest, FindsAndMinimisesALostUpdate) {
  SearchResult result = run(setup("counter"));
  ASSERT_EQ(result.problem.text, "");
  ASSERT_EQ(result.found.size(), 1u);
  const Found& found = result.found[0];
  EXPECT_EQ(found.failure.kind, "assertion");
  EXPECT_EQ(found.failure.place.file, "fake.cc");
  EXPECT_GE(found.run, 16u);  // the racing sites must be learnt before they can be points
  EXPECT_TRUE(found.replayed);
  EXPECT_TRUE(found.fewest);
  EXPECT_EQ(found.switches, 1u);
  EXPECT_EQ(result.pairs, 1u);
  EXPECT_NE(found.errors.find("Assertion"), std::string::npos);

  exec::TokenText token = exec::read_token_text(found.token);
  ASSERT_EQ(token.error, "");
  EXPECT_EQ(token.plan.trail.size(), 1u);
  std::string error;
  std::optional<exec::StoredFinding> stored = exec::Store(folder_ + "/dir").load(found.failure.id, error);
  ASSERT_TRUE(stored) << error;
  EXPECT_EQ(stored->token, found.token);
  EXPECT_EQ(stored->target[1], "counter");
}

TEST_F(SearchTest, DeadlockHasItsStrands) {
  SearchResult result = run(setup("deadlock"));
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].failure.kind, "deadlock");
  ASSERT_TRUE(result.found[0].logs.stuck);
  EXPECT_EQ(result.found[0].logs.stuck->strands.size(), 2u);
  EXPECT_EQ(result.found[0].switches, 1u);
}

TEST_F(SearchTest, ResultsDoNotDependOnJobs) {
  for (const char* what : {"counter", "deadlock", "two"}) {
    for (bool keep_going : {false, true}) {
      SearchSetup one = setup(what), four = setup(what);
      one.keep_going = four.keep_going = keep_going;
      four.jobs = 4;
      SearchResult first = run(one), second = run(four);
      EXPECT_EQ(summary(first), summary(second)) << what;
      EXPECT_FALSE(first.found.empty());
      if (keep_going) {
        EXPECT_EQ(first.runs, 200u);
      }
      if (keep_going && what == std::string("two")) {
        EXPECT_EQ(first.found.size(), 2u);
      }
    }
  }
}

TEST_F(SearchTest, AnotherSeedIsAnotherSearch) {
  SearchSetup other = setup("counter");
  other.search.seed = 2;
  EXPECT_NE(summary(run(setup("counter"))), summary(run(other)));
}

TEST_F(SearchTest, NothingFound) {
  SearchResult result = run(setup("output"));
  EXPECT_TRUE(result.found.empty());
  EXPECT_EQ(result.runs, 200u);
  EXPECT_FALSE(result.interrupted || result.out_of_time || result.one_thread);
}

TEST_F(SearchTest, OutputIsCompared) {
  SearchSetup with_check = setup("output");
  with_check.oracle.check = "grep -q 'count 2'";
  with_check.runs = 60;
  SearchResult result = run(with_check);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].failure.kind, "check");
}

TEST_F(SearchTest, GoesOnWhereItStopped) {
  SearchSetup whole = setup("two");
  whole.keep_going = true;
  whole.runs = 3000;
  SearchResult expected = run(whole);

  SearchSetup parts = whole;
  parts.dir = folder_ + "/parts";
  std::vector<Found> found;
  SearchResult result;
  int rounds = 0;
  do {
    Stopper fresh;
    finding::Names names;
    fresh.stop_after = 20;
    result = Search(parts, names, fresh).run(fresh.stop);
    ASSERT_EQ(result.problem.text, "");
    if (rounds > 0) {
      EXPECT_GT(fresh.resumed_at, 0u);
    }
    for (Found& entry : result.found) found.push_back(std::move(entry));
    EXPECT_EQ(result.interrupted, result.runs < 3000);
  } while (result.interrupted && ++rounds < 1000);
  EXPECT_GT(rounds, 0);
  EXPECT_EQ(result.runs, expected.runs);
  expect_same(found, expected.found);
  EXPECT_EQ(result.earlier.empty(), rounds == 0);

  Stopper again;  // it had finished: from the beginning
  finding::Names names;
  again.stop_after = 1;
  Search(parts, names, again).run(again.stop);
  EXPECT_EQ(again.resumed_at, 0u);
}

std::atomic<bool>* interrupted_by_check = nullptr;

TEST_F(SearchTest, WhatWasMinimisedBeforeAnInterruptIsKept) {
  SearchSetup checked = setup("output");
  checked.oracle.check = "grep -q 'count 2'";
  checked.runs = 60;
  SearchResult whole = run(checked);
  ASSERT_EQ(whole.found.size(), 1u);
  ASSERT_GT(whole.found[0].first_switches, whole.found[0].switches);

  // The first failure interrupts the search: minimising comes as far as it can before somebody looks.
  interrupted_by_check = &listener_.stop;
  signal(SIGUSR1, [](int) { *interrupted_by_check = true; });
  checked.oracle.check += " || { kill -USR1 $PPID; exit 1; }";
  checked.dir = folder_ + "/interrupted";
  SearchResult stopped = run(checked);
  signal(SIGUSR1, SIG_DFL);
  ASSERT_TRUE(listener_.stop);
  ASSERT_EQ(stopped.found.size(), 1u);
  if (stopped.found[0].fewest) {
    EXPECT_EQ(stopped.found[0].trail.size(), whole.found[0].trail.size());
    EXPECT_EQ(stopped.found[0].switches, whole.found[0].switches);
  } else {
    EXPECT_LE(stopped.found[0].switches, whole.found[0].first_switches);
  }
}

TEST_F(SearchTest, TimeEnds) {
  SearchSetup timed = setup("output");
  timed.runs = 100000000;
  timed.seconds = 0.5;
  SearchResult result = run(timed);
  EXPECT_TRUE(result.out_of_time);
  EXPECT_LT(result.runs, timed.runs);
}

TEST_F(SearchTest, OneThreadIsSaid) {
  SearchResult result = run(setup("single"));
  EXPECT_TRUE(result.one_thread);
  EXPECT_EQ(result.runs, 16u);
}

TEST_F(SearchTest, MegabytesOfOutputAreSaid) {
  SearchSetup few = setup("megabytes");
  few.runs = 3;
  SearchResult result = run(few);
  EXPECT_EQ(result.problem.text, "");
  EXPECT_EQ(result.runs, 3u);
  EXPECT_EQ(result.most_output, u64{20} << 20);  // of one run, not of all
}

TEST_F(SearchTest, ProblemsEndIt) {
  SearchSetup jobs = setup("exit-at-once");
  jobs.jobs = 4;
  EXPECT_EQ(run(jobs).problem.kind, exec::WorkerProblem::Kind::kEnded);
}

}  // namespace
}  // namespace duress::search
