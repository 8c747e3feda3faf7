// SPDX-License-Identifier: Apache-2.0
#include "report/interleaving.h"

#include <gtest/gtest.h>

#include "report/trace_text.h"

namespace duress::report {
namespace {

finding::Step access(int strand, const char* operation, u32 site, u64 value) {
  finding::Step step;
  step.strand = strand;
  step.operation = operation;
  step.object = 0x10;
  step.size = 4;
  step.value = std::to_string(value);
  step.site = finding::SiteRecord{0, site};
  return step;
}

class InterleavingTest : public testing::Test {
 protected:
  InterleavingTest() {
    logs_.run.processes.emplace_back();
    logs_.keys = {{{0, 1}, 111}, {{0, 2}, 222}};
  }
  std::string text() {
    std::string all;
    for (const std::string& line : interleaving(logs_, record_, failure_, names_)) all += line + "\n";
    return all;
  }
  void replace(u32 strand, u32 key, u64 value, bool future) {
    record_.first_replaced[record_.replaced++] = {strand,     key,   4, future, trail::ValueType::kInteger, 0,
                                                  {value, 0}, {9, 0}};
  }
  finding::RunLogs logs_;
  trail::Record record_;
  finding::Failure failure_;
  finding::Names names_;
};

TEST_F(InterleavingTest, MarksWhatWasReplaced) {
  logs_.steps = {access(1, "write", 2, 3), access(1, "lock", 2, 0), access(2, "read", 1, 3),
                 access(1, "write", 2, 4), access(2, "read", 1, 3)};
  logs_.steps[1].site.reset();
  replace(2, 111, 3, false);
  failure_.kind = "exit:1";
  // The first load of 3 is the newest value, and the second one is stale: but the record names the first that
  // fits, so a test needs another value to tell them apart.
  logs_.steps[2].value = "0x7";
  std::string shown = text();
  EXPECT_NE(shown.find("site 2 = 4  (was 7)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("site 1 → 3  (stale)"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("→ 7  ("), std::string::npos) << shown;
  EXPECT_EQ(shown.find("lock"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("exit"), std::string::npos) << shown;  // nobody's step
}

TEST_F(InterleavingTest, ValuesOfTheFuture) {
  logs_.steps = {access(2, "read", 1, 5), access(1, "write", 2, 5)};
  replace(2, 111, 5, true);
  EXPECT_NE(text().find("→ 5  (future)"), std::string::npos) << text();
}

TEST_F(InterleavingTest, ACrashIsTheLastRow) {
  logs_.steps = {access(1, "write", 2, 3), access(2, "read", 1, 0)};
  logs_.run.processes[0].crashes.emplace_back();
  logs_.run.processes[0].crashes[0].thread = 2;
  failure_.kind = "signal:SIGSEGV";
  failure_.place.file = "a.cc";
  failure_.place.line = 44;
  std::string shown = text();
  EXPECT_NE(shown.find("│ :44 SIGSEGV\n"), std::string::npos) << shown;
}

TEST_F(InterleavingTest, OfManyStepsThoseThatMatter) {
  for (u64 i = 0; i < 200; ++i) logs_.steps.push_back(access(1, "write", 2, 100 + i));
  logs_.steps.push_back(access(2, "read", 1, 150));
  for (u64 i = 0; i < 200; ++i) logs_.steps.push_back(access(1, "write", 2, 400 + i));
  replace(2, 111, 150, false);
  std::string shown = text();
  EXPECT_NE(shown.find("= 299"), std::string::npos) << shown;  // what the load did not see
  EXPECT_NE(shown.find("→ 150  (stale)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("= 599"), std::string::npos) << shown;  // what came last
  EXPECT_NE(shown.find("…"), std::string::npos) << shown;
  EXPECT_LT(std::count(shown.begin(), shown.end(), '\n'), 12) << shown;
}

TEST_F(InterleavingTest, NothingToShow) {
  EXPECT_EQ(text(), "");
}

TEST(ValueText, SmallNumbersAndOthers) {
  auto text = [](u64 low, u32 size, u64 high = 0) {
    u64 value[2] = {low, high};
    return value_text(value, size);
  };
  EXPECT_EQ(text(3, 4), "3");
  EXPECT_EQ(text(0xffffffff, 4), "-1");
  EXPECT_EQ(text(0xff, 1), "-1");
  EXPECT_EQ(text(0xff, 2), "255");
  EXPECT_EQ(text(~u64{0}, 8), "-1");
  EXPECT_EQ(text(0x7fff12345678, 8), "0x7fff12345678");
  EXPECT_EQ(text(0x3ff0000000000000, 8), "0x3ff0000000000000");
  EXPECT_EQ(text(1, 16, 2), "0x20000000000000001");
  EXPECT_EQ(text(1, 16), "1");
}

TEST(TraceText, LongNamesAreShortenedAndValuesStay) {
  finding::Names names;
  TraceRow row{1, "a.cc", 7, "Account_withdraw_twice_Test::TestBody()::balance = 42"};
  row.name_size = row.what.find(" =");
  std::string text = rows_text({row, {2, "a.cc", 9, "x → 1"}}, {{1, ""}, {2, ""}}, names, 60);
  EXPECT_NE(text.find(":7 …stBody()::balance = 42"), std::string::npos) << text;
  EXPECT_EQ(text.find("Account"), std::string::npos) << text;
  // With a column that is wide enough nothing is left out.
  EXPECT_NE(rows_text({row}, {{1, ""}}, names, 120).find("TestBody()::balance = 42"), std::string::npos);
}

TEST(TraceText, AddressesAndMarksOfThreeThreadsStay) {
  finding::Names names;
  TraceRow row{1, "a.cc", 20, "Point::p → 0x555555a2d010  (future)"};
  row.name_size = row.what.find(" →");
  std::map<int, std::string> strands{{0, "main"}, {1, ""}, {2, ""}};
  std::string text = rows_text({row, {2, "a.cc", 9, "x → 1"}, {0, "a.cc", 3, "create"}}, strands, names, 80);
  EXPECT_NE(text.find(":20 …p → …d010 (future)"), std::string::npos) << text;
  // With room nothing is left out.
  EXPECT_NE(rows_text({row}, {{1, ""}}, names, 80).find(row.what), std::string::npos);
}

}  // namespace
}  // namespace duress::report
