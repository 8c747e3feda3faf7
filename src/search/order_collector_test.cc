// SPDX-License-Identifier: Apache-2.0
#include "search/order_collector.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/coverage_json.h"

namespace duress::search {
namespace {

/// Site n is in line n; those from 10 on are of another variable.
class FakeNames : public finding::Names {
 public:
  finding::NamedSite site(const finding::ProcessLog&, const finding::SiteRecord& site) override {
    finding::NamedSite named;
    named.frame.file = "a.cc";
    named.frame.function = "f";
    named.frame.line = site.index + moved;
    named.variable = site.index < 10 ? "x" : "y";
    return named;
  }
  u32 moved = 0;
};

finding::Step step(int strand, const char* operation, u32 object, u32 site) {
  finding::Step step;
  step.strand = strand;
  step.operation = operation;
  step.object = object;
  if (site != 0) step.site = finding::SiteRecord{0, site};
  return step;
}

finding::RunLogs run_of(std::vector<finding::Step> steps) {
  finding::RunLogs logs;
  logs.run.processes.emplace_back();
  logs.steps = std::move(steps);
  return logs;
}

/// Two threads; each order is of an object of its own. Odd sites write.
finding::RunLogs run_with(const std::vector<std::pair<u32, u32>>& orders) {
  std::vector<finding::Step> steps = {step(0, "create", 0, 0), step(0, "create", 0, 0)};
  u32 object = 1;
  for (auto [first, second] : orders) {
    steps.push_back(step(1, first % 2 == 0 ? "atomic read" : "atomic write", object, first));
    steps.push_back(step(2, second % 2 == 0 ? "atomic read" : "atomic write", object++, second));
  }
  return run_of(std::move(steps));
}

std::vector<std::string> orders_in(std::vector<finding::Step> steps) {
  OrderCollector collector;
  FakeNames names;
  collector.add(collector.read(run_of(std::move(steps)), names));
  std::vector<std::string> result;
  for (const report::CoveragePair& pair : collector.coverage().pairs) {
    result.push_back(pair.kind + " " + pair.first.operation + (pair.forward != 0 ? " <" : "") +
                     (pair.backward != 0 ? " >" : "") + " " + pair.second.operation);
  }
  return result;
}

report::Coverage coverage_of(const std::vector<std::vector<std::pair<u32, u32>>>& runs, u32 moved = 0) {
  OrderCollector collector;
  FakeNames names;
  names.moved = moved;
  for (const auto& orders : runs) collector.add(collector.read(run_with(orders), names));
  return collector.coverage();
}

TEST(OrderCollector, BothOrdersOfAPairAreOneEntry) {
  report::Coverage coverage = coverage_of({{{2, 1}}, {{1, 2}}, {{1, 2}, {1, 3}}, {{3, 3}}});
  ASSERT_EQ(coverage.pairs.size(), 3u);
  EXPECT_EQ(coverage.pairs[0].first.frame.line, 1u);
  EXPECT_EQ(coverage.pairs[0].second.frame.line, 2u);
  EXPECT_EQ(coverage.pairs[0].forward, 2u);
  EXPECT_EQ(coverage.pairs[0].backward, 1u);
  EXPECT_EQ(coverage.pairs[1].second.frame.line, 3u);
  EXPECT_EQ(coverage.pairs[1].backward, 0u);
  EXPECT_FALSE(coverage.pairs[1].both());
  EXPECT_TRUE(coverage.pairs[2].both()) << "two threads at one place";
  EXPECT_EQ(coverage.both(), 2u);
  EXPECT_EQ(coverage.pairs[0].kind, "access");
}

TEST(OrderCollector, OnlyTheOtherOrder) {
  report::Coverage coverage = coverage_of({{{4, 1}}});
  ASSERT_EQ(coverage.pairs.size(), 1u);
  EXPECT_EQ(coverage.pairs[0].first.frame.line, 1u);
  EXPECT_EQ(coverage.pairs[0].forward, 0u);
  EXPECT_EQ(coverage.pairs[0].backward, 1u);
}

TEST(OrderCollector, MemoryThatIsUsedAgainIsAnotherVariable) {
  EXPECT_TRUE(coverage_of({{{1, 12}}}).pairs.empty());
}

TEST(OrderCollector, OnlyThreadsThatLiveAtTheSameTime) {
  // The first write comes before the thread exists, the last one after it was joined.
  finding::Step join = step(0, "join", 0, 0);
  join.joins = 1;
  EXPECT_TRUE(orders_in({step(0, "write", 5, 1), step(0, "create", 0, 0), step(1, "read", 5, 2), join,
                         step(0, "write", 5, 3)})
                  .empty());
  EXPECT_EQ(orders_in({step(0, "create", 0, 0), step(0, "write", 5, 1), step(1, "read", 5, 2), join}),
            std::vector<std::string>{"access write < read"});
}

TEST(OrderCollector, ReadsHaveNoOrder) {
  EXPECT_TRUE(orders_in({step(0, "create", 0, 0), step(0, "read", 5, 1), step(1, "read", 5, 2)}).empty());
  EXPECT_TRUE(
      orders_in({step(0, "create", 0, 0), step(0, "read lock", 5, 1), step(1, "read lock", 5, 2)}).empty());
}

TEST(OrderCollector, AWaitCountsWhenItBegins) {
  // Woken, then a second wait that is signalled before it begins.
  EXPECT_EQ(orders_in({step(0, "create", 0, 0), step(0, "wait", 5, 1), step(1, "signal", 5, 2),
                       step(0, "wait", 5, 1), step(0, "lock", 6, 3)}),
            std::vector<std::string>{"condition wait < signal"});
  EXPECT_EQ(orders_in({step(0, "create", 0, 0), step(1, "signal", 5, 2), step(0, "wait", 5, 1)}),
            std::vector<std::string>{"condition wait > signal"});
}

TEST(OrderCollector, GoesOnAfterRestore) {
  OrderCollector collector;
  FakeNames names;
  collector.restore(coverage_of({{{1, 2}}, {{2, 3}}}));
  collector.add(collector.read(run_with({{2, 1}, {2, 3}}), names));
  report::Coverage coverage = collector.coverage();
  ASSERT_EQ(coverage.pairs.size(), 2u);
  EXPECT_EQ(coverage.both(), 1u);
  EXPECT_EQ(coverage.pairs[1].forward, 2u);
}

TEST(Coverage, ComparesWithTheLastThoughLinesHaveMoved) {
  report::Coverage last = coverage_of({{{1, 2}}, {{3, 4}}}), now = coverage_of({{{1, 2}}, {{2, 1}}}, 7);
  report::compare(now, last);
  EXPECT_EQ(now.gained, 1u);
  EXPECT_EQ(now.lost, 1u);
  ASSERT_EQ(now.pairs.size(), 1u);
  EXPECT_FALSE(now.pairs[0].new_forward);
  EXPECT_TRUE(now.pairs[0].new_backward);
}

TEST(Coverage, OfSeveralProgramsIsTheirSum) {
  report::Coverage sum = coverage_of({{{1, 2}}, {{3, 4}}});
  report::compare(sum, coverage_of({{{1, 2}}}));
  sum.add(coverage_of({{{2, 1}}, {{5, 6}}, {{5, 6}}}));
  EXPECT_EQ(sum.runs, 5u);
  EXPECT_FALSE(sum.compared);
  ASSERT_EQ(sum.pairs.size(), 3u);
  EXPECT_TRUE(sum.pairs[0].both());
  EXPECT_FALSE(sum.pairs[1].both() || sum.pairs[1].new_forward || sum.pairs[1].new_backward);
  EXPECT_EQ(sum.pairs[2].forward + sum.pairs[2].backward, 2u);
  ASSERT_EQ(sum.kinds().size(), 1u);
  EXPECT_EQ(sum.kinds()[0].pairs, 3u);
  EXPECT_EQ(sum.kinds()[0].both, 1u);
}

TEST(Coverage, AsJsonAndBack) {
  report::Coverage coverage = coverage_of({{{1, 2}}, {{3, 4}}});
  report::compare(coverage, coverage_of({{{1, 2}}}));
  std::optional<report::Coverage> back = report::coverage_of(report::json_of(coverage));
  ASSERT_TRUE(back);
  EXPECT_EQ(report::json_of(*back), report::json_of(coverage));
  EXPECT_EQ(back->gained, 1u);
  EXPECT_FALSE(report::coverage_of(nlohmann::ordered_json{{"pairs", 7}}));
}

}  // namespace
}  // namespace duress::search
