// SPDX-License-Identifier: Apache-2.0
//
// The reader against whole, torn, malformed and hostile logs.
#include "finding/log_reader.h"

#include <gtest/gtest.h>

namespace duress::finding {
namespace {

const std::string kStart =
    R"({"t":"start","version":1,"pid":7,"ppid":6,"exe":"/p/a","argv":["./a","x"],"cwd":"/p","chain":"FastTrack","mode":"free"})"
    "\n";
const std::string kModule =
    R"({"t":"module","id":0,"path":"/p/a","base":"0x1000","low":"0x1000","high":"0x9000","build_id":"ab","sites":"0x2000"})"
    "\n";
const std::string kRace =
    R"({"t":"race","analysis":"FastTrack","addr":"0x5000","size":4,)"
    R"("prev":{"thread":1,"access":"write","addr":"0x5000","size":4,"site":[0,3],"stack":["0x1234"],"locks":[]},)"
    R"("cur":{"thread":2,"access":"atomic-read","addr":"0x5000","size":4,"site":null,"stack":["0x1300","0x1400"],)"
    R"("locks":[{"addr":"0x6000","kind":"rwlock","mode":"read"}]},)"
    R"("block":{"kind":"heap","start":"0x4ff8","size":40,"thread":0,"stack":["0x1111"]}})"
    "\n";

RunLog parse(const std::string& text) {
  RunLog log;
  parse_log(text, "7.jsonl", log);
  return log;
}

TEST(LogReader, ReadsARace) {
  RunLog log = parse(kStart + kModule + kRace);
  ASSERT_EQ(log.processes.size(), 1u);
  EXPECT_TRUE(log.problems.empty());
  const ProcessLog& process = log.processes[0];
  EXPECT_EQ(process.pid, 7);
  EXPECT_EQ(process.exe, "/p/a");
  EXPECT_EQ(process.argv, (std::vector<std::string>{"./a", "x"}));
  ASSERT_EQ(process.races.size(), 1u);
  const RaceRecord& race = process.races[0];
  EXPECT_EQ(race.address, 0x5000u);
  EXPECT_EQ(race.modules_loaded, 1u);
  ASSERT_TRUE(race.prev.site);
  EXPECT_EQ(race.prev.site->index, 3u);
  EXPECT_EQ(race.prev.access, Access::kWrite);
  EXPECT_FALSE(race.cur.site);
  EXPECT_EQ(race.cur.access, Access::kAtomicRead);
  EXPECT_EQ(race.cur.stack, (std::vector<Address>{0x1300, 0x1400}));
  ASSERT_EQ(race.cur.locks.size(), 1u);
  EXPECT_TRUE(race.cur.locks[0].shared);
  EXPECT_EQ(race.block.kind, BlockKind::kHeap);
  EXPECT_EQ(race.block.size, 40u);
}

TEST(LogReader, ALibraryThatOrdersThreadsUnseenMakesTheRunIncomplete) {
  std::string module = kModule;
  module.replace(module.find("/p/a"), 4, "/usr/lib/libgomp.so.1");
  EXPECT_TRUE(parse(kStart + kModule + module).processes[0].incomplete.empty())
      << "it has sites: its locks are seen";
  module.erase(module.find(",\"sites\""), std::string(R"(,"sites":"0x2000")").size());
  RunLog log = parse(kStart + kModule + module);
  ASSERT_EQ(log.processes[0].incomplete.size(), 1u);
  EXPECT_EQ(log.processes[0].incomplete[0].rfind("libgomp.so.1 is not instrumented: ", 0), 0u);
}

TEST(LogReader, TornLastLineIsIgnored) {
  for (std::size_t cut = 1; cut < kRace.size(); ++cut) {
    RunLog log = parse(kStart + kModule + kRace.substr(0, cut));
    EXPECT_TRUE(log.problems.empty()) << cut;
    EXPECT_TRUE(log.processes.at(0).races.empty()) << cut;
  }
}

TEST(LogReader, MalformedLinesAreNamedAndTheRestIsKept) {
  RunLog log = parse(kStart + "garbage\n" + kModule + R"({"t":"race","analysis":"FastTrack"})" + "\n" +
                     R"({"no":"kind"})" + "\n[1]\n" + kRace);
  ASSERT_EQ(log.problems.size(), 4u);
  EXPECT_EQ(log.problems[0].line, 2u);
  EXPECT_EQ(log.problems[1].line, 4u);
  EXPECT_EQ(log.problems[2].line, 5u);
  EXPECT_EQ(log.problems[3].line, 6u);
  EXPECT_EQ(log.processes.at(0).races.size(), 1u);
}

TEST(LogReader, WrongTypesAreProblemsNotCrashes) {
  for (const char* line :
       {R"({"t":"race","analysis":3,"addr":"0x1","prev":{},"cur":{}})",
        R"({"t":"race","analysis":"A","addr":"0xzz","prev":{},"cur":{}})",
        R"({"t":"race","analysis":"A","addr":"0x1","prev":[],"cur":"x"})",
        R"({"t":"module","id":"x","path":"/a","base":"0x0","low":"0x0","high":"0x0"})",
        R"({"t":"thread","id":1,"stack":"0x1"})", R"({"t":"thread","id":1,"stack":["0x"]})",
        R"({"t":"stat","name":"n","value":"many"})", R"({"t":7})", R"({"t":"start","version":9,"pid":1})"}) {
    RunLog log = parse(kStart + line + "\n");
    EXPECT_EQ(log.problems.size(), 1u) << line;
    EXPECT_EQ(log.processes.size(), 1u) << line;
  }
}

TEST(LogReader, UnknownKindsAreForNewerReaders) {
  RunLog log = parse(kStart + R"({"t":"deadlock","cycle":[1,2]})" + "\n");
  EXPECT_TRUE(log.problems.empty());
}

TEST(LogReader, ExecStartsANewImageInTheSameFile) {
  RunLog log = parse(kStart + kModule + R"({"t":"exec","path":"/p/b"})" + "\n" + kStart +
                     R"({"t":"end","exit":3})" + "\n");
  ASSERT_EQ(log.processes.size(), 2u);
  EXPECT_EQ(log.processes[0].modules.size(), 1u);
  EXPECT_TRUE(log.processes[1].modules.empty());
  EXPECT_EQ(log.processes[1].exit, 3);
}

TEST(LogReader, ALaterThreadLineReplacesTheName) {
  RunLog log = parse(kStart + R"({"t":"thread","id":1,"parent":0,"name":"","stack":["0x1"]})" + "\n" +
                     R"({"t":"thread","id":1,"parent":0,"name":"worker","stack":["0x1"]})" + "\n");
  EXPECT_EQ(log.processes.at(0).threads.at(1).name, "worker");
}

TEST(LogReader, BytesThatAreNotUtf8DoNotLoseTheLine) {
  RunLog log =
      parse(kStart + "{\"t\":\"thread\",\"id\":1,\"parent\":0,\"name\":\"a\xff\x01z\",\"stack\":[]}\n");
  EXPECT_TRUE(log.problems.empty());
  EXPECT_EQ(log.processes.at(0).threads.at(1).name, "a\xef\xbf\xbd\xef\xbf\xbdz");
}

TEST(LogReader, LinesBeforeStartAreProblems) {
  EXPECT_EQ(parse(kModule).problems.size(), 1u);
}

TEST(LogReader, MissingFolderIsAnEmptyLog) {
  EXPECT_TRUE(read_log_dir("/nonexistent/duress").processes.empty());
}

}  // namespace
}  // namespace duress::finding
