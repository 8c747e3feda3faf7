// SPDX-License-Identifier: Apache-2.0
#include "finding/run_logs.h"

#include <gtest/gtest.h>

#include "finding/log_reader.h"
#include "trail/site_key.h"

namespace duress::finding {
namespace {

/// The logs of process 5, which has this one.
RunLogs logs_of(const std::string& lines) {
  RunLogs logs;
  logs.pid = 5;
  parse_log("{\"t\":\"start\",\"version\":1,\"pid\":5}\n" + lines, "5.jsonl", logs.run);
  logs.take_control_lines();
  return logs;
}

TEST(RunLogs, StuckStepAndPointsLines) {
  RunLogs logs = logs_of(
      R"({"t":"stuck","outcome":"deadlock","strands":[{"strand":1,"name":"w","state":"blocked","op":"lock","object":"0xb0","held_by":[2],"stack":["0x10","0x20"]},{"strand":2,"state":"runnable","op":"read","place":"0x33"}]})"
      "\n"
      R"({"t":"step","n":17,"strand":1,"op":"read","object":"0x8","size":4,"value":"0x3","site":[0,123],"place":"0x0"})"
      "\n"
      R"({"t":"step","n":18,"strand":2,"name":"x","op":"lock","object":"0x9","site":null,"place":"0x44"})"
      "\n"
      R"({"t":"points","sites":[{"site":[1,7],"key":99},{"site":[0,8],"key":100},{"site":[0,9],"key":0}]})"
      "\n");
  EXPECT_TRUE(logs.run.problems.empty());
  ASSERT_TRUE(logs.stuck);
  ASSERT_EQ(logs.stuck->strands.size(), 2u);
  EXPECT_EQ(logs.stuck->strands[0].held_by, std::vector<int>{2});
  EXPECT_EQ(logs.stuck->strands[0].stack, (std::vector<Address>{0x10, 0x20}));
  EXPECT_EQ(logs.stuck->strands[1].stack, std::vector<Address>{0x33});
  ASSERT_EQ(logs.steps.size(), 2u);
  EXPECT_EQ(logs.steps[0].number, 17u);
  EXPECT_EQ(logs.steps[0].site->index, 123u);
  EXPECT_FALSE(logs.steps[1].site);
  EXPECT_EQ(logs.steps[1].place, 0x44u);
  ASSERT_EQ(logs.keys.size(), 2u);
  EXPECT_EQ(logs.keys[0].site.module, 1);
  EXPECT_EQ(logs.keys[1].key, 100u);
}

TEST(RunLogs, NonsenseIsSkippedAndSaid) {
  RunLogs logs = logs_of(
      "{\"t\":\"stuck\",\"strands\":7}\n[\"step\"]\n{\"t\":\"step\"\n\"points\"\n"
      "{\"t\":\"points\",\"sites\":[1,{\"site\":\"x\",\"key\":-1},{\"site\":[\"a\",2],\"key\":3}]}\n"
      "{\"t\":\"step\",\"n\":-5,\"strand\":\"a\",\"op\":3,\"site\":[1]}\n{\"t\":\"step\",\"n\":1");
  EXPECT_FALSE(logs.stuck);
  EXPECT_TRUE(logs.steps.empty());
  EXPECT_TRUE(logs.keys.empty());
  EXPECT_EQ(logs.run.problems.size(), 6u);  // the last line is torn, not wrong
}

TEST(RunLogs, RacesBecomePairsOfKeys) {
  auto race = [](int first, int second) {
    return R"({"t":"race","analysis":"FastTrack","addr":"0x1","prev":{"thread":1,"access":"write","addr":"0x1","site":[0,)" +
           std::to_string(first) + R"(]},"cur":{"thread":2,"access":"read","addr":"0x1","site":[0,)" +
           std::to_string(second) + "]}}\n";
  };
  RunLogs logs = logs_of(race(1, 2) + race(2, 1) + race(2, 2) + race(1, 3) +
                         R"({"t":"points","sites":[{"site":[0,1],"key":50},{"site":[0,2],"key":40}]})"
                         "\n");
  std::vector<trail::SitePair> pairs = racing_pairs(logs);
  // The third site's key is not known.
  EXPECT_EQ(pairs, (std::vector<trail::SitePair>{{0, 50}, {40, 40}, {40, 50}}));
}

TEST(RunLogs, FreesHaveOneKey) {
  RunLogs logs = logs_of(
      R"({"t":"race","analysis":"FastTrack","addr":"0x1","prev":{"thread":1,"access":"read","addr":"0x1","site":[0,1]},)"
      R"("cur":{"thread":2,"access":"free","addr":"0x1"}})"
      "\n"
      R"({"t":"memory","what":"use-after-free","addr":"0x1","size":4,)"
      R"("prev":{"thread":2,"access":"free","addr":"0x1"},"cur":{"thread":1,"access":"read","addr":"0x1","site":[0,2]}})"
      "\n"
      R"({"t":"points","sites":[{"site":[0,1],"key":5},{"site":[0,2],"key":4}]})"
      "\n");
  EXPECT_EQ(racing_pairs(logs), (std::vector<trail::SitePair>{{4, trail::kFreeKey}, {5, trail::kFreeKey}}));
}

}  // namespace
}  // namespace duress::finding
