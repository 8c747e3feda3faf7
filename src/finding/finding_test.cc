// SPDX-License-Identifier: Apache-2.0
//
// Ids: the same for what is the same race, whatever lines, order and schedule; different for what is not.
#include "finding/finding.h"

#include <gtest/gtest.h>

#include <set>

#include "finding/stable_name.h"

namespace duress::finding {
namespace {

AccessReport access(Access kind, const char* file, std::uint32_t line, const char* function) {
  AccessReport report;
  report.access = kind;
  Frame frame;
  frame.file = file;
  frame.line = line;
  frame.column = 3;
  frame.function = function;
  report.stack.push_back(frame);
  return report;
}

Race race(AccessReport a, AccessReport b, const char* variable = "Point::x") {
  Race result;
  result.sites = {std::move(a), std::move(b)};
  result.variable = result.variable_key = variable;
  return result;
}

std::string id_of(const Race& one) {
  std::vector<Race> races{one};
  assign_ids(races);
  return races[0].id;
}

const AccessReport kWriter = access(Access::kWrite, "/p/src/point.cc", 5, "Point::Point");
const AccessReport kReader = access(Access::kRead, "/p/src/point.cc", 9, "use");

TEST(Finding, IdSurvivesLineShiftsOrderAndFolder) {
  std::string id = id_of(race(kWriter, kReader));
  EXPECT_EQ(id.size(), 6u);
  EXPECT_EQ(id.rfind("R-", 0), 0u);
  EXPECT_EQ(id, id_of(race(kReader, kWriter)));
  EXPECT_EQ(id, id_of(race(access(Access::kWrite, "/q/point.cc", 105, "Point::Point"),
                           access(Access::kRead, "/q/point.cc", 209, "use"))));
}

TEST(Finding, OneVariableHasOneIdWhicheverAccessesAreSeen) {
  AccessReport other = access(Access::kRead, "/p/src/other.cc", 9, "other");
  std::set<std::string> ids{id_of(race(kWriter, kReader)), id_of(race(kWriter, kWriter)),
                            id_of(race(kWriter, other))};
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_NE(*ids.begin(), id_of(race(kWriter, kReader, "Point::y")));
}

TEST(Finding, MemoryWithoutANameIsToldApartByFunctions) {
  AccessReport elsewhere = access(Access::kRead, "/p/src/point.cc", 9, "other");
  for (const char* nameless : {"", "*p", "stack", "heap block"}) {
    std::string id = id_of(race(kWriter, kReader, nameless));
    EXPECT_EQ(id, id_of(race(kReader, kWriter, nameless)));
    EXPECT_NE(id, id_of(race(kWriter, elsewhere, nameless)));
  }
}

TEST(Finding, ClashingShortIdsAreLengthened) {
  // More races than a quarter of all 4-digit ids: some must clash.
  std::vector<Race> races;
  for (int i = 0; i < 20000; ++i) races.push_back(race(kWriter, kReader, ("v" + std::to_string(i)).c_str()));
  assign_ids(races);
  std::set<std::string> ids;
  std::size_t lengthened = 0;
  for (const Race& one : races) {
    ids.insert(one.id);
    EXPECT_TRUE(one.id.size() == 6 || one.id.size() == 10) << one.id;
    lengthened += one.id.size() == 10;
  }
  EXPECT_EQ(ids.size(), races.size());
  EXPECT_GT(lengthened, 0u);
}

TEST(Finding, NumbersOfLambdasDoNotEnterIds) {
  EXPECT_EQ(stable_name("main::$_12::operator()"), "main::$_::operator()");
  EXPECT_EQ(stable_name("f(int)::'lambda3'(int)::operator()"), "f(int)::'lambda'(int)::operator()");
  EXPECT_EQ(stable_name("f::{lambda(int)#2}::operator()"), "f::{lambda(int)#}::operator()");
  EXPECT_EQ(stable_name("Cache2::get"), "Cache2::get");
  EXPECT_EQ(stable_name(""), "");
  AccessReport reader = access(Access::kRead, "/p/src/point.cc", 9, "main::$_1::operator()");
  AccessReport moved = access(Access::kRead, "/p/src/point.cc", 19, "main::$_4::operator()");
  EXPECT_EQ(id_of(race(kWriter, reader, "*p")), id_of(race(kWriter, moved, "*p")));
}

TEST(Finding, KindIsPreviousThenCurrent) {
  EXPECT_STREQ(race(kWriter, kReader).kind(), "write-read");
  EXPECT_STREQ(race(kReader, kWriter).kind(), "read-write");
  EXPECT_STREQ(race(kWriter, kWriter).kind(), "write-write");
  EXPECT_STREQ(race(kReader, access(Access::kAtomicRmw, "a.c", 1, "f")).kind(), "read-write");
  EXPECT_STREQ(race(access(Access::kFree, "a.c", 1, "f"), kReader).kind(), "write-read");
}

TEST(Finding, GroupsByUnorderedPairOfPlacesAndVariable) {
  EXPECT_EQ(group_key(race(kWriter, kReader)), group_key(race(kReader, kWriter)));
  EXPECT_NE(group_key(race(kWriter, kReader)), group_key(race(kWriter, kReader, "Point::y")));
  EXPECT_NE(group_key(race(kWriter, kReader)),
            group_key(race(access(Access::kWrite, "/p/src/point.cc", 6, "Point::Point"), kReader)));
}

TEST(Finding, HeadlineIsTheWriteOrTheEarlierPlace) {
  EXPECT_EQ(race(kReader, kWriter).headline(), 1u);
  EXPECT_EQ(race(kWriter, kReader).headline(), 0u);
  AccessReport later = access(Access::kWrite, "/p/src/point.cc", 50, "f");
  EXPECT_EQ(race(later, kWriter).headline(), 1u);
  EXPECT_EQ(race(kWriter, later).headline(), 0u);
}

}  // namespace
}  // namespace duress::finding
