// SPDX-License-Identifier: Apache-2.0
//
// Grouping, naming and writing, from hand-made records against the site table of tests/report/fake_target.cc.
#include "report/document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/json_writer.h"
#include "report/text_writer.h"

namespace duress::report {
namespace {

finding::AccessRecord access(int thread, finding::Access kind, int site) {
  finding::AccessRecord record;
  record.thread = thread;
  record.access = kind;
  record.address = 0x7000;
  record.size = 8;
  if (site > 0) record.site = finding::SiteRecord{0, static_cast<std::uint32_t>(site)};
  return record;
}

finding::RaceRecord race(finding::AccessRecord prev, finding::AccessRecord cur) {
  finding::RaceRecord record;
  record.analysis = "FastTrack";
  record.address = 0x7000;
  record.prev = std::move(prev);
  record.cur = std::move(cur);
  record.modules_loaded = 1;
  return record;
}

finding::RunLog log_of(std::vector<finding::RaceRecord> races) {
  finding::RunLog log;
  finding::ProcessLog process;
  process.pid = 7;
  process.exe = DURESS_FAKE_TARGET;
  finding::ModuleRecord module;
  module.path = DURESS_FAKE_TARGET;
  module.base = 0x10000000;
  module.low = 0x10000000;
  module.high = 0x10100000;
  process.modules.push_back(module);
  process.threads[2] = {2, 0, "evictor", {}};
  process.races = std::move(races);
  log.processes.push_back(std::move(process));
  return log;
}

Document report_of(std::vector<finding::RaceRecord> races, const std::string& suppressed = "") {
  Suppressions suppressions;
  EXPECT_EQ(suppressions.parse(suppressed, "F"), "");
  Document report;
  report.command = "run";
  report.version = "0";
  report.target = {"./a"};
  report.cwd = "/project";
  report.root_pid = 7;
  fill_document(log_of(std::move(races)), suppressions, report);
  return report;
}

using finding::Access;
const finding::RaceRecord kField = race(access(2, Access::kWrite, 1), access(1, Access::kRead, 2));

TEST(Report, OneEntryPerPairWhateverTheOrder) {
  Document report = report_of({kField, race(kField.cur, kField.prev), kField});
  ASSERT_EQ(report.races.size(), 1u);
  EXPECT_EQ(report.races[0].count, 3u);
  EXPECT_EQ(report.races[0].variable, "Cache::size_");
  EXPECT_STREQ(report.races[0].kind(), "write-read");
}

TEST(Report, HeapNameWithoutSiteNameAndTheKeyHasNoNumbers) {
  finding::RaceRecord record = race(access(2, Access::kWrite, 6), access(1, Access::kRead, 7));
  record.block.kind = finding::BlockKind::kHeap;
  record.block.start = 0x6ff0;
  record.block.size = 40;
  record.block.thread = 0;
  Document report = report_of({record});
  ASSERT_EQ(report.races.size(), 1u);
  EXPECT_EQ(report.races[0].variable, "heap block of 40 bytes");
  EXPECT_EQ(report.races[0].variable_key, "heap block");
  EXPECT_EQ(report.races[0].block.offset, 16);
}

TEST(Report, NamesOfLastResort) {
  finding::RaceRecord pointee = race(access(2, Access::kWrite, 6), access(1, Access::kRead, 7));
  EXPECT_EQ(report_of({pointee}).races.at(0).variable, "*p");
  finding::RaceRecord stack = race(access(2, Access::kWrite, 7), access(1, Access::kRead, 7));
  stack.block.kind = finding::BlockKind::kStack;
  stack.block.thread = 1;
  EXPECT_EQ(report_of({stack}).races.at(0).variable, "stack of T1");
  finding::RaceRecord nothing = race(access(2, Access::kWrite, 0), access(1, Access::kRead, 0));
  EXPECT_EQ(report_of({nothing}).races.at(0).variable, "0x7000");
}

TEST(Report, LibraryCodeIsChargedToItsUser) {
  Document report = report_of({race(access(1, Access::kWrite, 3), access(2, Access::kRead, 2))});
  finding::Frame site = report.races.at(0).sites[0].site();
  EXPECT_EQ(site.function, "Cache::get");
  EXPECT_EQ(site.line, 45u);
  EXPECT_EQ(report.races[0].sites[0].stack.size(), 2u);
}

TEST(Report, SuppressedRacesAreCountedAndDoNotRenameOthers) {
  finding::RaceRecord other_line = race(access(2, Access::kWrite, 5), access(1, Access::kRead, 2));
  Document all = report_of({kField, other_line});
  ASSERT_EQ(all.races.size(), 2u);
  finding::RaceRecord other_variable = race(access(2, Access::kWrite, 6), access(1, Access::kRead, 7));
  Document some = report_of({kField, other_line, other_variable}, "race:^Cache::size_$\nrace:never\n");
  ASSERT_EQ(some.races.size(), 1u);
  EXPECT_EQ(some.suppressed, 2u);
  ASSERT_EQ(some.unused_suppressions.size(), 1u);
  std::string text = to_text(some, {});
  EXPECT_NE(text.find("duress: 1 data race (2 suppressed), seed 1"), std::string::npos) << text;
  EXPECT_NE(text.find("duress: suppression never used: race:never (F:2)"), std::string::npos) << text;
}

TEST(Report, ARaceIsAVariableAndItsPairsComeTogether) {
  finding::RaceRecord other_variable = race(access(2, Access::kWrite, 6), access(1, Access::kRead, 7));
  finding::RaceRecord other_line = race(access(2, Access::kWrite, 5), access(1, Access::kRead, 2));
  Document report = report_of({kField, other_variable, other_line});
  EXPECT_EQ(report.summary.races, 2u);
  EXPECT_EQ(report.summary.pairs, 3u);
  ASSERT_EQ(report.races.size(), 3u);
  EXPECT_EQ(report.races[0].variable == report.races[1].variable,
            report.races[1].variable != report.races[2].variable);
  EXPECT_NE(to_text(report, {}).find("duress: 2 data races (3 pairs of accesses), seed 1"),
            std::string::npos);
  auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["summary"], (nlohmann::json{{"races", 2}, {"pairs", 3}, {"failures", 0}, {"runs", 1}}));
  EXPECT_EQ(json["races"][0]["title"], "data race on " + report.races[0].variable);
}

TEST(Report, TheWorstVerdictOfItsPairsIsTheVariables) {
  using finding::VerdictKind;
  Summary summary = count_races(
      {{"x", VerdictKind::kNoHarmFound}, {"y", VerdictKind::kOpen}, {"x", VerdictKind::kDestructive}});
  EXPECT_EQ(races_text(summary), "2 races (3 pairs of accesses)");
  EXPECT_EQ(verdict_counts_text(summary), "1 destructive, 1 not judged");
}

TEST(Report, TextInCompilerStyle) {
  Document report = report_of({kField});
  std::string text = to_text(report, {});
  std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(first, "src/cache.cc:88:9: warning: data race on Cache::size_ [" + report.races[0].id + "]");
  EXPECT_NE(text.find("  T2 'evictor' writes  Cache::evict()  cache.cc:88  holds nothing\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  T1           reads   Cache::get()    cache.cc:41  holds nothing\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(to_text(report, {.quiet = true}), first + "\n");
  EXPECT_NE(to_text(report, {.color = true, .quiet = true}).find("\033["), std::string::npos);
}

TEST(Report, HostileNamesAreHarmlessOnATerminalAndWholeInJson) {
  Document report = report_of({race(access(2, Access::kWrite, 8), access(1, Access::kWrite, 8))});
  std::string text = to_text(report, {});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("evil\\x1b[31m\\x0aname"), std::string::npos) << text;
  auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["races"][0]["variable"], "evil\033[31m\nname");
}

TEST(Report, DamagedReferencesDoNotHang) {
  Document report = report_of({race(access(2, Access::kWrite, 9), access(1, Access::kWrite, 4000000))});
  EXPECT_EQ(report.races.size(), 1u);
  to_text(report, {.verbose = true}, /*stats=*/true);
  to_json(report);
}

TEST(Report, BadLogLinesAreNamed) {
  Suppressions none;
  Document report;
  finding::RunLog log = log_of({});
  log.problems.push_back({"7.jsonl", 12, "not a JSON object"});
  fill_document(log, none, report);
  EXPECT_NE(to_text(report, {}).find("7.jsonl:12: "), std::string::npos);
}

}  // namespace
}  // namespace duress::report
