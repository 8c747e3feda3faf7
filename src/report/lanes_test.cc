// SPDX-License-Identifier: Apache-2.0
#include "report/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/lanes_text.h"

namespace duress::report {
namespace {

using finding::Address;

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

finding::Step step(int strand, const char* operation, Address object, const char* value = "", int site = 0) {
  finding::Step one;
  one.strand = strand;
  one.operation = operation;
  one.object = object;
  one.size = 4;
  one.value = value;
  if (site != 0) one.site = finding::SiteRecord{0, static_cast<u32>(site)};
  return one;
}

class LanesTest : public testing::Test {
 protected:
  LanesTest() {
    logs_.run.processes.emplace_back();
    logs_.keys = {{{0, 1}, 111}, {{0, 2}, 222}};
  }
  Lanes make(std::size_t most = kMostLaneEvents) { return lanes_of(logs_, record_, failure_, names_, most); }
  void replace(u32 strand, u32 key, u64 value, bool future) {
    record_.first_replaced[record_.replaced++] = {strand,     key,   4, future, trail::ValueType::kInteger, 0,
                                                  {value, 0}, {9, 0}};
  }
  finding::RunLogs logs_;
  trail::Record record_;
  std::optional<finding::Failure> failure_;
  finding::Names names_;
};

TEST_F(LanesTest, AStaleValueComesFromTheStoreThatWroteIt) {
  logs_.steps = {step(1, "write", 0x10, "0x3", 2), step(1, "write", 0x10, "0x9", 2),
                 step(2, "read", 0x10, "0x3", 1), step(2, "read", 0x10, "0x9", 1)};
  replace(2, 111, 3, false);
  Lanes lanes = make();
  ASSERT_EQ(lanes.events.size(), 4u);
  EXPECT_EQ(lanes.events[2].how, LaneValue::kStale);
  EXPECT_EQ(lanes.events[2].from, 0);
  EXPECT_EQ(lanes.words[lanes.events[2].value], "3");
  EXPECT_EQ(lanes.words[lanes.events[2].newest], "9");
  EXPECT_EQ(lanes.events[3].how, LaneValue::kNewest);
  EXPECT_EQ(lanes.events[3].from, 1);
}

TEST_F(LanesTest, AValueOfTheFutureComesFromTheStoreAfterIt) {
  logs_.steps = {step(1, "write", 0x10, "0x9", 2), step(2, "read", 0x10, "0x4", 1),
                 step(1, "write", 0x20, "0x4", 2), step(1, "write", 0x10, "0x4", 2)};
  replace(2, 111, 4, true);
  Lanes lanes = make();
  EXPECT_EQ(lanes.events[1].how, LaneValue::kFuture);
  EXPECT_EQ(lanes.events[1].from, 3);  // not the store of the same value elsewhere
}

TEST_F(LanesTest, AnInitialValueComesFromNowhere) {
  logs_.steps = {step(1, "write", 0x10, "0x9", 2), step(2, "read", 0x10, "0x0", 1)};
  replace(2, 111, 0, false);
  Lanes lanes = make();
  EXPECT_EQ(lanes.events[1].how, LaneValue::kStale);
  EXPECT_EQ(lanes.events[1].from, -1);
}

TEST_F(LanesTest, SynchronisationMakesArrows) {
  logs_.run.processes[0].threads = {{0, {0, -1, "", {}}}, {1, {1, 0, "", {}}}, {2, {2, 0, "", {}}}};
  logs_.steps = {step(0, "create", 0),    step(0, "create", 0),  step(1, "lock", 0x50),
                 step(1, "unlock", 0x50), step(2, "lock", 0x50), step(2, "unlock", 0x50),
                 step(2, "lock", 0x50),   step(1, "post", 0x60), step(2, "acquire", 0x60),
                 step(0, "join", 0)};
  logs_.steps[9].joins = 2;
  Lanes lanes = make();
  std::vector<int> after;
  for (const LaneEvent& event : lanes.events) after.push_back(event.after);
  EXPECT_EQ(after,
            (std::vector<int>{-1, -1, 0, -1, 3, -1, -1, -1, 7, 8}));  // its own unlock orders nothing new
}

TEST_F(LanesTest, WithoutRecordsOfThreadsTheOrderOfCreationTells) {
  logs_.steps = {step(0, "create", 0), step(0, "create", 0), step(2, "yield", 0), step(1, "yield", 0)};
  Lanes lanes = make();
  EXPECT_EQ(lanes.events[2].after, 1);
  EXPECT_EQ(lanes.events[3].after, 0);
  logs_.steps.push_back(
      step(1, "create", 0));  // one that failed, or whose strand did nothing: who knows which
  lanes = make();
  EXPECT_EQ(lanes.events[2].after, -1);
}

TEST_F(LanesTest, ColumnsAreInOrderAndTheFailureComesLast) {
  logs_.steps = {step(2, "read", 0x10, "0x1", 1), step(0, "join", 2), step(1, "read", 0x10, "0x1", 1)};
  logs_.steps[1].name = "main";
  failure_ = finding::Failure{};
  failure_->kind = "exit:1";
  Lanes lanes = make();
  ASSERT_EQ(lanes.threads.size(), 3u);
  EXPECT_EQ(lanes.threads[0].name, "main");
  EXPECT_EQ(lanes.threads[lanes.events[0].thread].id, 2);
  EXPECT_EQ(lanes.events.back().thread, LaneEvent::kEverybody);
  EXPECT_EQ(lanes.words[lanes.events.back().operation], "failure");
  EXPECT_EQ(lanes.words[lanes.events.back().object], "exit code 1");
}

TEST_F(LanesTest, OfManyEventsTheLastAreKept) {
  for (int i = 0; i < 30; ++i)
    logs_.steps.push_back(step(1 + i % 2, i % 2 ? "read" : "write", 0x10, "0x1", 1));
  Lanes lanes = make(10);
  ASSERT_EQ(lanes.events.size(), 10u);
  EXPECT_EQ(lanes.skipped, 20u);
  EXPECT_EQ(lanes.events[1].from, 0);
  lanes = tail_of(lanes, 9);
  EXPECT_EQ(lanes.skipped, 21u);
  EXPECT_EQ(lanes.events[0].from, -1);
  EXPECT_EQ(lanes.events[2].from, 1);
}

TEST_F(LanesTest, NothingMakesNothing) {
  EXPECT_TRUE(make().events.empty());
}

TEST_F(LanesTest, AsTextADeadlockShowsWhoHoldsWhat) {
  logs_.steps = {step(1, "lock", 0x10), step(1, "unlock", 0x10), step(1, "lock", 0x10),
                 step(2, "lock", 0x20)};
  std::string text = lanes_text(make(), 78, 12);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;  // the threads, and a lock of each
}

TEST_F(LanesTest, AsTextALostUpdateShowsBothThreads) {
  logs_.steps = {step(0, "create", 0),
                 step(1, "read", 0x10, "0x0", 1),
                 step(2, "read", 0x10, "0x0", 1),
                 step(1, "read", 0x20, "0x5", 2),
                 step(1, "write", 0x10, "0x1", 1),
                 step(2, "write", 0x10, "0x1", 1)};
  std::string text = lanes_text(make(), 78, 12);
  std::size_t columns = 0;
  for (std::size_t at = text.find("→ 0"); at != std::string::npos; at = text.find("→ 0", at + 1)) ++columns;
  EXPECT_EQ(columns, 2u) << text;
  EXPECT_NE(text.find("= 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("→ 5"), std::string::npos) << text;  // nobody else touches it
  EXPECT_EQ(text.find("create"), std::string::npos) << text;
}

TEST_F(LanesTest, PlainAccessesThatAreNoStepsAreShownIfSeveralThreadsUseThem) {
  logs_.steps = {step(0, "write", 0x30, "0x7", 1), step(0, "create", 0),
                 step(1, "write", 0x10, "0x1", 1), step(1, "read", 0x30, "0x7", 1),
                 step(1, "write", 0x20, "0x2", 1), step(0, "read", 0x10, "0x1", 2)};
  for (finding::Step& one : logs_.steps) one.plain = one.operation != "create";
  Lanes lanes = make();
  ASSERT_EQ(lanes.events.size(), 3u);  // 0x20 is one thread's own, 0x30 was written before there were two
  EXPECT_EQ(lanes.events[2].from, 1);
}

TEST_F(LanesTest, WhereTheDecidingValueCameFrom) {
  logs_.steps = {step(1, "read", 0x10, "0x0", 1),  step(2, "read", 0x10, "0x0", 1),
                 step(2, "write", 0x10, "0x2", 1), step(1, "write", 0x10, "0x1", 1),
                 step(0, "read", 0x40, "0x5", 2),  // nobody else's
                 step(0, "read", 0x10, "0x1", 2)};
  failure_ = finding::Failure{};
  failure_->kind = "exit:1";
  EXPECT_TRUE(make().decided.empty());  // nobody's failure
  logs_.run.processes[0].crashes.emplace_back().thread = 0;
  Lanes lanes = make();
  ASSERT_EQ(lanes.decided.size(), 1u);
  EXPECT_NE(lanes.decided[0].find("→ 1: T1 stored it; it had read 0, before T2 stored 2"), std::string::npos)
      << lanes.decided[0];
  EXPECT_NE(lanes_text(lanes, 78, 12).find(lanes.decided[0]), std::string::npos);
}

}  // namespace
}  // namespace duress::report
