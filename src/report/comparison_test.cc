// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

StoredDocument document(const char* races, const char* failures = "[]", const char* command = "classify") {
  std::string text = std::string(R"({"schema": "duress/1", "command": ")") + command +
                     R"(", "target": ["./a"], "runs": 7, "races": )" + races + R"(, "failures": )" +
                     failures + "}";
  std::string error;
  std::optional<StoredDocument> read = read_document(text, error);
  EXPECT_TRUE(read) << error;
  return read ? *read : StoredDocument();
}

constexpr const char* kSites = R"("sites": [{"file": "a.cc", "line": 3, "column": 1, "access": "write"}])";

std::string race(const std::string& id, const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "variable": "v)" + id + R"(", )" + kSites + more + "}";
}

TEST(ComparisonTest, NewGoneAndUnchanged) {
  StoredDocument before = document(("[" + race("R-1111") + "," + race("R-2222") + "]").c_str());
  StoredDocument now = document(("[" + race("R-3333") + "," + race("R-1111") + "]").c_str(),
                                R"([{"id": "F-1", "failure": "deadlock", "text": "T1 and T2 wait"}])");
  Comparison comparison = compare(before, now);
  EXPECT_EQ(comparison_summary(comparison), "2 new, 0 changed, 1 gone, 1 unchanged");
  EXPECT_EQ(comparison_lines(comparison),
            (std::vector<std::string>{"new: a.cc:3:1: warning: data race on vR-3333 [R-3333]",
                                      "new: error: T1 and T2 wait [F-1]",
                                      "gone: a.cc:3:1: warning: data race on vR-2222 [R-2222]"}));
  EXPECT_TRUE(comparison.notes.empty());
}

TEST(ComparisonTest, AnIdMayHaveFewerDigitsInTheOtherDocument) {
  StoredDocument before = document(("[" + race("R-1111") + "]").c_str());
  StoredDocument now = document(("[" + race("R-111122") + "]").c_str());
  EXPECT_EQ(comparison_summary(compare(before, now)), "0 new, 0 changed, 0 gone, 1 unchanged");
}

TEST(ComparisonTest, VerdictsAndPairsChangeButLinesDoNot) {
  StoredDocument before = document(("[" + race("R-1", R"(, "verdict": "no-harm-found")") + "]").c_str());
  std::string moved = race("R-1", R"(, "verdict": "destructive")");
  moved.replace(moved.find("\"line\": 3"), 9, "\"line\": 9");
  StoredDocument now = document(("[" + moved + "," + race("R-1") + "]").c_str(), "[]", "run");
  Comparison comparison = compare(before, now);
  ASSERT_EQ(comparison.changed.size(), 1u);
  EXPECT_EQ(
      comparison_lines(comparison),
      (std::vector<std::string>{"changed: a.cc:9:1: error: data race on vR-1 [R-1]",
                                "  verdict: no-harm-found -> destructive", "  pairs of accesses: 1 -> 2"}));
  ASSERT_EQ(comparison.notes.size(), 1u);
  EXPECT_EQ(comparison.notes[0], "command: duress classify ./a before, duress run ./a now");
  Json json = comparison_json(comparison, before, "old.json", now, "new.json");
  EXPECT_EQ(json["changed"][0]["changes"][0]["now"], "destructive");
  EXPECT_EQ(json["before"]["file"], "old.json");
  EXPECT_TRUE(json["new"].empty() && json["gone"].empty() && json["unchanged"].empty());
}

TEST(ComparisonTest, OnlyMovedLinesAreNoChange) {
  std::string moved = race("R-1");
  moved.replace(moved.find("\"line\": 3"), 9, "\"line\": 9");
  StoredDocument before = document(("[" + race("R-1") + "]").c_str());
  StoredDocument now = document(("[" + moved + "]").c_str());
  EXPECT_EQ(comparison_summary(compare(before, now)), "0 new, 0 changed, 0 gone, 1 unchanged");
}

}  // namespace
}  // namespace duress::report
