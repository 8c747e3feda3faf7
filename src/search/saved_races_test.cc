// SPDX-License-Identifier: Apache-2.0
#include "search/saved_races.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "exec/testing/folder_test.h"
#include "finding/log_reader.h"
#include "finding/log_writer.h"

namespace duress::search {
namespace {

constexpr char kLog[] =
    R"({"t":"start","version":1,"pid":7,"ppid":6,"exe":"/bin/p","argv":["p","é"],"cwd":"/","chain":"FastTrack","mode":"controlled"}
{"t":"thread","id":1,"parent":0,"name":"w","stack":["0x10","0x20"],"path":3}
{"t":"module","id":0,"path":"/bin/p","base":"0x1000","low":"0x1000","high":"0x2000","build_id":"ab"}
{"t":"race","analysis":"FastTrack","addr":"0x1800","size":4,"prev":{"thread":0,"access":"write","addr":"0x1800","size":4,"site":[0,2],"stack":["0x1004"],"locks":[{"addr":"0x1900","kind":"mutex","mode":"read"}]},"cur":{"thread":1,"access":"atomic-rmw","addr":"0x1800","size":4,"stack":[],"locks":[]},"block":{"kind":"heap","start":"0x1700","size":512,"thread":0,"stack":["0x1008"]}}
{"t":"module","id":1,"path":"/lib/l.so","base":"0x5000","low":"0x5000","high":"0x6000","build_id":""}
{"t":"potential","analysis":"Hybrid","addr":"0x1800","size":4,"prev":{"thread":0,"access":"read","addr":"0x1800"},"cur":{"thread":1,"access":"free","addr":"0x1800"}}
{"t":"warning","analysis":"LockOrder","what":"deadlock","addr":"0x1900","sites":[{"thread":0,"access":"read","addr":"0x1800"}]}
{"t":"crash","signal":"SIGSEGV","addr":"0x0","thread":1,"stack":["0x1004"]}
{"t":"incomplete","what":"clone"}
{"t":"stat","name":"races","value":1}
{"t":"end","exit":3}
)";

finding::RunLog log_of(const std::string& text) {
  finding::RunLog log;
  finding::parse_log(text, "log", log);
  return log;
}

class SavedRacesTest : public exec::testing::FolderTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ + "/searches"); }
  std::map<u64, finding::RunLog> load(u64 next_run) { return SavedRaces(folder_, "key").load(next_run); }
  std::string file() const { return std::filesystem::directory_iterator(folder_ + "/searches")->path(); }
};

TEST(LogWriter, WhatWasReadIsWrittenAndReadAgain) {
  finding::RunLog log = log_of(kLog);
  ASSERT_TRUE(log.problems.empty()) << log.problems[0].what;
  std::string text = finding::log_text(log.processes.at(0));
  finding::RunLog again = log_of(text);
  ASSERT_TRUE(again.problems.empty()) << again.problems[0].what;
  EXPECT_EQ(finding::log_text(again.processes.at(0)), text);
  const finding::ProcessLog& process = again.processes[0];
  ASSERT_EQ(process.races.size(), 1U);
  EXPECT_EQ(process.races[0].modules_loaded, 1U);
  EXPECT_TRUE(process.races[0].prev.locks.at(0).shared);
  EXPECT_EQ(process.races[0].cur.access, finding::Access::kAtomicRmw);
  EXPECT_EQ(process.races[0].block.kind, finding::BlockKind::kHeap);
  EXPECT_EQ(process.potentials.at(0).modules_loaded, 2U);
  EXPECT_EQ(
      process.warnings.size() + process.crashes.size() + process.incomplete.size() + process.stats.size(),
      4U);
  EXPECT_EQ(process.threads.at(1).path, 3U);
  EXPECT_EQ(process.exit, 3);
}

TEST_F(SavedRacesTest, EveryRunComesBack) {
  std::map<u64, finding::RunLog> races;
  for (u64 run : {2, 5, 9, 20}) races[run] = log_of(kLog);
  races[7];  // reported nothing
  SavedRaces saved(folder_, "key");
  EXPECT_EQ(saved.save(races, 6), "");
  EXPECT_EQ(saved.save(races, 10), "");
  EXPECT_LT(std::filesystem::file_size(file()), 2 * sizeof kLog) << "equal logs are kept once";
  auto loaded = load(10);
  ASSERT_EQ(loaded.size(), 3U);
  for (u64 run : {2, 5, 9}) EXPECT_EQ(loaded.at(run).processes.at(0).races.size(), 1U) << run;
  EXPECT_TRUE(load(2).empty()) << "runs that are done again";
}

TEST_F(SavedRacesTest, ACutOffLineIsDropped) {
  std::map<u64, finding::RunLog> races;
  races[1] = races[3] = log_of(kLog);
  SavedRaces(folder_, "key").save(races, 4);
  std::ofstream(file(), std::ios::app) << R"({"run":6,"log":"{\"t\":\"sta)";
  SavedRaces saved(folder_, "key");
  EXPECT_EQ(saved.load(4).size(), 2U);
  races[5] = log_of(kLog);
  EXPECT_EQ(saved.save(races, 6), "");
  EXPECT_EQ(load(6).size(), 3U);
}

}  // namespace
}  // namespace duress::search
