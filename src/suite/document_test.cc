// SPDX-License-Identifier: Apache-2.0
#include "suite/document.h"

#include <gtest/gtest.h>

namespace duress::suite {
namespace {

CaseResult case_of(const std::string& name, const std::string& document,
                   CaseOutcome outcome = CaseOutcome::kPassed) {
  CaseResult result;
  result.test_case = {name, "store", {"./store"}};
  result.outcome = outcome;
  result.document = report::Json::parse(document, nullptr, false);
  return result;
}

const char* const kFirst = R"({"runs": 10, "seconds": 1.5, "incomplete": ["fork"], "races": [
  {"id": "R-1111", "variable": "x", "verdict": "no-harm-found", "test": "A.One", "more": [1, {"k": null}],
   "sites": [{"file": "a.cc", "function": "f"}, {"file": "b.cc", "function": "g"}]},
  {"id": "R-2222", "variable": "y", "verdict": "", "test": "A.One", "sites": []}]})";
const char* const kSecond = R"({"runs": 20, "seconds": 2.25, "races": [
  {"id": "R-1111", "variable": "x", "verdict": "destructive", "test": "A.Two",
   "sites": [{"file": "b.cc", "function": "g"}, {"file": "a.cc", "function": "f"}]},
  {"id": "R-2222", "variable": "z", "verdict": "slower", "test": "A.Two", "sites": []}]})";

SuiteDocument merged() {
  CaseResult broken;
  broken.test_case = {"A.Three", "store", {}};
  broken.outcome = CaseOutcome::kError;
  broken.why = "it \xff broke";
  return merge_documents({7, "build", 3.125}, {case_of("A.One", kFirst), case_of("A.Two", kSecond), broken});
}

TEST(SuiteDocumentTest, ARaceOfSeveralCasesIsOneEntryOfTheWorst) {
  report::Json races = merged().json["races"];
  ASSERT_EQ(races.size(), 3u);
  EXPECT_EQ(races[0]["verdict"], "destructive");
  EXPECT_EQ(races[0]["test"], "A.Two");
  EXPECT_EQ(races[0]["tests"], report::Json({"A.One", "A.Two"}));
  EXPECT_FALSE(races[0].contains("more"));
  // The worst may have come first.
  SuiteDocument turned = merge_documents({}, {case_of("A.Two", kSecond), case_of("A.One", kFirst)});
  EXPECT_EQ(turned.json["races"][0]["test"], "A.Two");
  EXPECT_EQ(turned.json["races"][0]["tests"], report::Json({"A.Two", "A.One"}));
}

TEST(SuiteDocumentTest, RacesOfOneIdAreToldApartByTheirVariables) {
  report::Json races = merged().json["races"];
  ASSERT_EQ(races.size(), 3u);
  EXPECT_EQ(races[1]["variable"], "y");
  EXPECT_EQ(races[1]["tests"], report::Json({"A.One"}));
  EXPECT_EQ(races[2]["variable"], "z");
  EXPECT_EQ(races[2]["tests"], report::Json({"A.Two"}));
}

TEST(SuiteDocumentTest, TheWhole) {
  SuiteDocument document = merged();
  const report::Json& json = document.json;
  EXPECT_EQ(json["schema"], "duress/1");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["runs"], 30);
  EXPECT_EQ(json["complete"], false);  // a case could not be run
  EXPECT_EQ(json["incomplete"], report::Json({"A.One: fork"}));
  EXPECT_EQ(json["summary"]["destructive"], 1);
  ASSERT_EQ(json["cases"].size(), 3u);
  EXPECT_EQ(json["cases"][0]["races"], report::Json({"R-1111", "R-2222"}));
  EXPECT_EQ(json["cases"][1]["seconds"], 2.25);
  EXPECT_FALSE(json["cases"][2].contains("races"));
  EXPECT_EQ(document.summary.races, 3u);
  EXPECT_EQ(document.summary.runs, 30u);
  ASSERT_EQ(document.races.size(), 3u);
  EXPECT_EQ(document.races[2].verdict, "slower");
  // What is not UTF-8 is replaced.
  EXPECT_EQ(report::Json::parse(document.text())["cases"][2]["text"], "it \uFFFD broke");
}

TEST(SuiteDocumentTest, SummaryOfACase) {
  report::Summary summary = summary_of(case_of("A.Two", kSecond));
  EXPECT_EQ(summary.races, 2u);
  EXPECT_EQ(summary.count(finding::VerdictKind::kDestructive), 1u);
  EXPECT_EQ(summary_of(CaseResult()).races, 0u);
}

TEST(SuiteDocumentTest, CoverageIsSummedOverTheCases) {
  auto seen = [](int forward, int backward) {
    report::Json place = {
        {"file", "a.cc"}, {"line", 1}, {"column", 1}, {"function", "f"}, {"operation", "lock"}};
    report::Json other = place;
    other["line"] = 9;
    report::Json pair = {{"kind", "lock"},
                         {"first", place},
                         {"second", other},
                         {"first_before_second", forward},
                         {"second_before_first", backward}};
    return report::Json{{"races", report::Json::array()},
                        {"coverage", {{"runs", 10}, {"pairs", report::Json::array({pair})}}}}
        .dump();
  };
  SuiteDocument document = merge_documents({}, {case_of("A", seen(3, 0)), case_of("B", seen(0, 2)),
                                                case_of("C", R"({"coverage": {"runs": []}})")});
  ASSERT_TRUE(document.coverage);
  EXPECT_EQ(document.coverage->runs, 20u);
  ASSERT_EQ(document.coverage->pairs.size(), 1u);
  EXPECT_TRUE(document.coverage->pairs[0].both());
  EXPECT_EQ(document.json["cases"][0]["coverage"], (report::Json{{"runs", 10}, {"pairs", 1}, {"both", 0}}));
  EXPECT_FALSE(document.json["cases"][2].contains("coverage"));
  EXPECT_FALSE(merged().coverage);
}

TEST(SuiteDocumentTest, FieldsOfOtherTypesCountAsNotThere) {
  SuiteDocument document = merge_documents(
      {}, {case_of("A", R"({"runs": "many", "seconds": [], "incomplete": [1], "races": [3, {"id": 4}]})")});
  EXPECT_EQ(document.json["runs"], 0);
  EXPECT_EQ(document.json["cases"][0]["seconds"], 0.0);
  ASSERT_EQ(document.races.size(), 1u);
  EXPECT_EQ(document.races[0].id, "");
}

}  // namespace
}  // namespace duress::suite
