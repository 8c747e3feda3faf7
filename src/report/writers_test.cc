// SPDX-License-Identifier: Apache-2.0
//
// What the writers make of documents, hostile ones above all. That SARIF follows its schema, XML is
// well-formed and pages work in a browser is tested in tests/report with the tools that know.
#include <gtest/gtest.h>

#include <set>

#include "report/html_writer.h"
#include "report/junit_writer.h"
#include "report/lanes_json.h"
#include "report/perfetto_writer.h"
#include "report/sarif_line_hash.h"
#include "report/sarif_places.h"
#include "report/sarif_writer.h"
#include "report/sources.h"

namespace duress::report {
namespace {

constexpr const char* kRace = R"({"id":"R-12ab","variable":"x","kind":"write-read","found_by":["FastTrack"],
  "verdict":"destructive","confirmed":true,
  "evidence":{"failure":"exit:1","text":"exit code 1","model":"stale","read":"0","newest":"1","rates":[],
              "counterfactual":{"failed":0,"runs":50},"replay":"D1.prog.AA"},
  "sites":[{"file":"a b.cc","line":5,"column":3,"function":"f","access":"read","thread":1,"locks":[],
            "stack":[{"function":"f","file":"a b.cc","line":5},{"function":"main","file":"a b.cc","line":9}]},
           {"file":"/abs/b.cc","line":7,"column":1,"function":"g","access":"write","thread":2,"locks":["mu"],
            "stack":[{"function":"g","file":"/abs/b.cc","line":7}]}]})";

StoredDocument document(const std::string& races, const std::string& command = "classify") {
  std::string error;
  std::string text = R"({"schema":"duress/1","command":")" + command +
                     R"(","seed":1,"target":["./a prog"],"runs":5,"races":[)" + races + "]}";
  std::optional<StoredDocument> read = read_document(text, error);
  EXPECT_TRUE(read) << error;
  return *read;
}

finding::Lanes small_lanes() {
  finding::Lanes lanes;
  lanes.threads = {{1, "one"}, {2, ""}};
  lanes.words = {"", "write", "read", "x", "1", "0", "failure", "exit code 1"};
  lanes.places = {{}, {"a.cc", 5}, {"b.cc", 7}};
  finding::LaneEvent write, read, end;
  write.operation = 1, write.object = 3, write.value = 4, write.place = 1;
  read.thread = 1, read.operation = 2, read.object = 3, read.value = 5, read.newest = 4, read.place = 2;
  read.how = finding::LaneValue::kStale, read.after = 0;
  end.thread = finding::LaneEvent::kEverybody, end.operation = 6, end.object = 7;
  lanes.events = {write, read, end};
  return lanes;
}

TEST(DocumentTest, WhatIsNoDocumentIsRefused) {
  std::string error;
  for (const char* text : {"", "{", "[]", "7", R"({"schema":"duress/2"})", R"({"schema":7})"}) {
    EXPECT_FALSE(read_document(text, error)) << text;
    EXPECT_EQ(error, "not a document that --json wrote");
  }
}

TEST(DocumentTest, KeysOfOtherTypesCountAsNotThere) {
  StoredDocument odd =
      document(R"(7, null, {"id":9}, {"id":"R-1","sites":"none","variable":[],"evidence":[1]},
      {"id":"R-2","sites":[7,null],"evidence":{"rates":7,"replay":{}},"lanes":{"threads":[1],"events":[1,{"thread":"a"}]}})");
  EXPECT_EQ(odd.json["races"].size(), 2u);
  EXPECT_NO_THROW({
    to_html(odd);
    to_sarif(odd);
    to_junit(odd);
    to_perfetto(odd);
    to_json(odd);
  });
}

TEST(DocumentTest, LanesSurviveBeingWrittenAndRead) {
  StoredDocument one = document(std::string(kRace) + "," + kRace);
  one.json["races"][1]["id"] = "R-2";
  one.lanes = {small_lanes()};
  one.lanes_of = {{"R-12ab", 0}, {"R-2", 0}};
  std::string error, text = to_json(one);
  std::optional<StoredDocument> again = read_document(text, error);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->lanes.size(), 1u);  // shared, so written once
  EXPECT_EQ(again->lanes_of, one.lanes_of);
  EXPECT_EQ(lanes_json(again->lanes[0]), lanes_json(one.lanes[0]));
}

TEST(DocumentTest, ReplayLinesAreSafeForAShell) {
  StoredDocument one = document(kRace);
  one.replay_options = " --dir " + shell_word("my dir's");
  EXPECT_EQ(replay_line(one, one.json["races"][0]), "duress replay R-12ab --dir 'my dir'\\''s'");
  EXPECT_EQ(replay_token_line(one, one.json["races"][0]), "duress replay D1.prog.AA -- './a prog'");
  EXPECT_EQ(shell_word("$(rm -rf ~)`x`\n"), "$'$(rm -rf ~)`x`\\x0a'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("it's\x1b[31m\\"), "$'it\\'s\\x1b[31m\\\\'");
  EXPECT_EQ(shell_line({"./a b", "-x", ""}), "'./a b' -x ''");
  EXPECT_EQ(shell_word(""), "''");
}

constexpr const char* kUseAfterFree = R"({"id":"F-1","failure":"use-after-free","text":"uses freed memory",
  "file":"a.cc","line":7,"stacks":[],
  "memory":{"access":{"thread":0,"stack":[{"function":"use","file":"a.cc","line":7}]},
            "freed":{"thread":1,"stack":[{"function":"operator delete","file":"/usr/x.cc","line":1},
                                         {"function":"end","file":"b.cc","line":9}]},
            "block":{"kind":"heap","thread":2,"stack":[{"function":"make","file":"c.cc","line":3}]}}})";

TEST(SarifTest, AMemoryErrorHasTheStacksOfUseFreeAndAllocation) {
  StoredDocument one = document("", "verify");
  one.json["failures"] = Json::array({Json::parse(kUseAfterFree)});
  Json result = Json::parse(to_sarif(one))["runs"][0]["results"][0];
  ASSERT_EQ(result["stacks"].size(), 3u);
  EXPECT_EQ(result["stacks"][0]["message"]["text"], "T0 uses freed memory");
  EXPECT_EQ(result["stacks"][1]["message"]["text"], "freed by T1");
  EXPECT_EQ(result["stacks"][2]["message"]["text"], "allocated by T2");
  ASSERT_EQ(result["relatedLocations"].size(), 2u);
  auto uri = [&](int i) {
    return result["relatedLocations"][i]["physicalLocation"]["artifactLocation"]["uri"];
  };
  EXPECT_EQ(uri(0), "b.cc");
  EXPECT_EQ(uri(1), "c.cc");
  EXPECT_EQ(result["relatedLocations"][1]["id"], 2);
}

TEST(SarifTest, ADestroyedMutexIsNotFreed) {
  StoredDocument one = document("", "verify");
  one.json["failures"] = Json::array({Json::parse(kUseAfterFree)});
  one.json["failures"][0]["failure"] = "use-after-destroy";
  one.json["failures"][0]["memory"].erase("block");
  Json result = Json::parse(to_sarif(one))["runs"][0]["results"][0];
  ASSERT_EQ(result["stacks"].size(), 2u);
  EXPECT_EQ(result["stacks"][1]["message"]["text"], "destroyed by T1");
}

TEST(SarifTest, ARaceIsAResultAtItsWrite) {
  StoredDocument one = document(kRace);
  Json run = Json::parse(to_sarif(one))["runs"][0];
  const Json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "race/destructive");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<int>()]["id"], "race/destructive");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file:///abs/b.cc");
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.cc");
  EXPECT_EQ(result["partialFingerprints"]["duressId/v1"], "R-12ab");
  // Without an execution the two stacks are the flow, outermost first.
  const Json& flows = result["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0]["locations"].size(), 2u);
  EXPECT_EQ(flows[0]["locations"][1]["location"]["physicalLocation"]["region"]["startLine"], 5);
}

TEST(SarifTest, AnExecutionIsAFlowPerThread) {
  StoredDocument one = document(kRace);
  one.lanes = {small_lanes()};
  one.lanes_of = {{"R-12ab", 0}};
  Json flows = Json::parse(to_sarif(one))["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0]["id"], "T1");
  EXPECT_EQ(flows[1]["locations"][0]["executionOrder"], 2);
  EXPECT_EQ(flows[1]["locations"][0]["location"]["message"]["text"], "read x → 0 (stale, newest 1)");
}

TEST(SarifTest, RulesFollowTheVerdict) {
  StoredDocument one = document(kRace);
  Json race = one.json["races"][0];
  race["verdict"] = "no-harm-found";
  EXPECT_STREQ(rule_of(race), "race/confirmed");
  race["confirmed"] = false;
  EXPECT_STREQ(rule_of(race), "race/unconfirmed");
  race["replay"] = "D1.x.y";  // verify has an execution that shows it
  EXPECT_STREQ(rule_of(race), "race/confirmed");
}

TEST(SarifTest, UrisEscapeWhatTheyCannotCarry) {
  EXPECT_EQ(uri_of("a b<>\"%.cc"), "a%20b%3C%3E%22%25.cc");
  EXPECT_EQ(uri_of("/x/\xff.cc"), "file:///x/%FF.cc");
  EXPECT_EQ(uri_of("C:x"), "C%3Ax");  // no scheme
  EXPECT_EQ(uri_of(""), "unknown");
}

TEST(WritersTest, PairsOfAVariableAreOneRace) {
  StoredDocument one = document(std::string(kRace) + "," + kRace);
  Json& races = one.json["races"];
  races[0]["verdict"] = "no-harm-found";  // as another case of a test suite saw it
  races[1]["id"] = "R-2";
  races[1]["title"] = "data race on x is DESTRUCTIVE";
  races[1]["account"] = {"3 of 20 ordinary schedules fail"};
  one.json["summary"] = {{"races", 1}, {"pairs", 2}};
  Json run = Json::parse(to_sarif(one))["runs"][0];
  ASSERT_EQ(run["results"].size(), 1u);
  EXPECT_EQ(run["properties"]["summary"], one.json["summary"]);
  EXPECT_EQ(run["results"][0]["ruleId"], "race/destructive");
  EXPECT_EQ(run["results"][0]["relatedLocations"].size(), 3u);
  std::string message = run["results"][0]["message"]["text"], xml = to_junit(one);
  for (const char* words :
       {"is DESTRUCTIVE", "another pair of accesses:", "3 of 20 ordinary schedules fail"}) {
    EXPECT_NE(message.find(words), std::string::npos) << words;
    EXPECT_NE(xml.find(words), std::string::npos) << words;
  }
  EXPECT_NE(xml.find("tests=\"1\" failures=\"1\""), std::string::npos);
  EXPECT_NE(xml.find("<property name=\"pairs\" value=\"2\"/>"), std::string::npos);
}

TEST(JunitTest, VerdictsDecide) {
  StoredDocument one = document(kRace);
  EXPECT_NE(to_junit(one).find("<failure type=\"race/destructive\""), std::string::npos);
  one.json["races"][0]["verdict"] = "no-harm-found";
  EXPECT_NE(to_junit(one).find("failures=\"0\""), std::string::npos);
  one.json["races"][0].erase("verdict");
  EXPECT_NE(to_junit(one).find("skipped=\"1\""), std::string::npos);
  one = document(kRace, "run");  // gives no verdicts, so its races are findings
  one.json["races"][0].erase("verdict");
  EXPECT_NE(to_junit(one).find("failures=\"1\""), std::string::npos);
  EXPECT_NE(to_junit(document("")).find("tests=\"1\" failures=\"0\""), std::string::npos);
}

TEST(JunitTest, CasesThatPassedAreThere) {
  StoredDocument one = document("");
  one.json["cases"] =
      Json::array({{{"name", "Queue.Push"}, {"test", "queue"}, {"outcome", "passed"}},
                   {{"name", "Queue.Pop"}, {"test", "queue"}, {"outcome", "disabled"}},
                   {{"name", "Queue.Racy"}, {"test", "queue"}, {"outcome", "passed"}, {"races", {"R-1"}}}});
  std::string xml = to_junit(one);
  EXPECT_NE(xml.find("tests=\"2\" failures=\"0\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<testcase classname=\"queue\" name=\"Queue.Push\">"), std::string::npos) << xml;
  EXPECT_EQ(xml.find("Queue.Racy"), std::string::npos) << xml;
}

TEST(SarifTest, LinesHaveTheHashThatCodeScanningComputes) {
  EXPECT_EQ(line_hash("", 1), "c129715d7a2bc9a3:1");
  EXPECT_EQ(line_hash(" a\nb\n  \t\tc\n d", 1), "271789c17abda88f:1");
  EXPECT_EQ(line_hash(" a\nb\n  \t\tc\n d", 4), "a23a3dc5e078b07b:1");
  EXPECT_EQ(line_hash("a\r\nb", 2), line_hash("a\nb", 2));
  EXPECT_EQ(line_hash("a\nb", 7), "");
  EXPECT_EQ(line_hash_of_file("/nowhere/f.cc", 1), "");
}

TEST(JunitTest, AnyBytesAreWellFormed) {
  EXPECT_EQ(xml_text("<a href='x'>&\"</a>"), "&lt;a href=&apos;x&apos;&gt;&amp;&quot;&lt;/a&gt;");
  EXPECT_EQ(xml_text("a\nb"), "a&#10;b");
  EXPECT_EQ(xml_text("\x1b[31m\xff"), "\\x1b[31m\\xff");
  EXPECT_EQ(xml_text("\xef\xbf\xbf"), "\xef\xbf\xbd");
}

TEST(PerfettoTest, SlicesAndFlows) {
  StoredDocument one = document(kRace);
  one.lanes = {small_lanes()};
  one.lanes_of = {{"R-12ab", 0}};
  Json events = Json::parse(to_perfetto(one))["traceEvents"];
  std::map<std::string, int> phases;
  for (const Json& event : events) ++phases[event["ph"].get<std::string>()];
  EXPECT_EQ(phases["X"], 3);
  EXPECT_EQ(phases["s"], 1);
  EXPECT_EQ(phases["f"], 1);
  EXPECT_EQ(phases["M"], 4);  // the process, two threads, the program
}

TEST(HtmlTest, NothingOfTheDataCanEndItsBlock) {
  StoredDocument one = document(kRace);
  one.json["races"][0]["variable"] = "</script><script>alert(1)</script><!--";
  std::string page = to_html(one);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  std::size_t blocks = 0;
  for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1))
    ++blocks;
  EXPECT_EQ(blocks, 2u);  // data and script
}

TEST(HtmlTest, TheScriptIsOnePieceWithoutModules) {
  std::string script = page_script();
  for (const char* word :
       {"\nimport ", "\nexport ", "</script", "innerHTML", "eval(", "http://", "https://"}) {
    if (word == std::string("http://")) continue;  // the name of SVG
    EXPECT_EQ(script.find(word), std::string::npos) << word;
  }
}

TEST(HtmlTest, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("a"), "YQ==");
  EXPECT_EQ(base64("ab"), "YWI=");
  EXPECT_EQ(base64("abc"), "YWJj");
}

TEST(SourcesTest, WhatCannotBeReadIsSaid) {
  StoredDocument one = document(kRace);
  one.folder = "/";
  one.json["races"][0]["sites"][0]["file"] = "dev/zero";
  Json sources = sources_of(one);
  EXPECT_EQ(sources["dev/zero"]["missing"], "not a file");
  EXPECT_EQ(sources["/abs/b.cc"]["missing"], "No such file or directory");
}

}  // namespace
}  // namespace duress::report
