// SPDX-License-Identifier: Apache-2.0
#include "report/deciding_step.h"

#include <gtest/gtest.h>

#include "report/lanes.h"

namespace duress::report {
namespace {

class DecidingStepTest : public testing::Test {
 protected:
  DecidingStepTest() { logs_.run.processes.emplace_back(); }

  void add(int strand, const char* operation, finding::Address object, const char* value = "",
           const char* newest = "") {
    finding::Step step;
    step.number = logs_.steps.size() + 1;
    step.strand = strand;
    step.operation = operation;
    step.object = object;
    step.size = 4;
    step.value = value;
    step.newest = newest;
    logs_.steps.push_back(step);
  }

  std::optional<DecidingStep> find() {
    trail::Record record;
    return deciding_step(logs_, lanes_of(logs_, record, std::nullopt, names_));
  }

  finding::RunLogs logs_;
  finding::Names names_;
};

TEST_F(DecidingStepTest, OfALostUpdateTheStoreWhileTheOtherThreadStillHasToStore) {
  add(1, "read", 0x10, "0x0");
  add(2, "read", 0x10, "0x0");
  add(2, "write", 0x10, "0x1");  // 3: races with T1's read, and T1 goes on
  add(1, "write", 0x10, "0x1");
  std::optional<DecidingStep> step = find();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 3u);
  EXPECT_EQ(step->strand, 2);
  EXPECT_NE(step->text.find("T2 is about to write"), std::string::npos) << step->text;
  EXPECT_NE(step->text.find("T1 read it"), std::string::npos) << step->text;
}

TEST_F(DecidingStepTest, AStaleLoadDecidesBeforeAnyPair) {
  add(1, "write", 0x10, "0x1");
  add(2, "atomic read", 0x20, "0x0", "0x7");
  add(1, "write", 0x10, "0x2");
  add(2, "read", 0x10, "0x2");
  std::optional<DecidingStep> step = find();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 2u);
  EXPECT_NE(step->text.find("gets 0, memory holds 7"), std::string::npos) << step->text;
}

TEST_F(DecidingStepTest, AccessesThatALockOrdersAreNotTheRacingOnes) {
  add(1, "write", 0x10, "0x1");  // races with 3
  add(2, "lock", 0x50);
  add(2, "write", 0x10, "0x2");
  add(2, "write", 0x20, "0x2");
  add(2, "unlock", 0x50);
  add(1, "lock", 0x50);
  add(1, "write", 0x20, "0x3");  // ordered after 4
  add(1, "unlock", 0x50);
  std::optional<DecidingStep> step = find();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 3u);
}

TEST_F(DecidingStepTest, ReadsOfBothAndOtherMemoryAreNoPair) {
  add(1, "read", 0x10, "0x1");
  add(2, "read", 0x10, "0x1");
  add(2, "write", 0x20, "0x1");
  add(1, "write", 0x24, "0x1");
  EXPECT_FALSE(find());
}

TEST_F(DecidingStepTest, ADeadlockHasNone) {
  add(1, "write", 0x10, "0x1");
  add(2, "write", 0x10, "0x1");
  logs_.stuck.emplace();
  EXPECT_FALSE(find());
}

}  // namespace
}  // namespace duress::report
