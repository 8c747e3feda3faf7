// SPDX-License-Identifier: Apache-2.0
#include "cli/tsan_output.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "report/tsan_writer.h"

namespace duress::cli {
namespace {

TEST(TsanOutputTest, LogPathIsTakenFromDuressOptionsFirst) {
  setenv("TSAN_OPTIONS", "halt_on_error=1 log_path=\"/a b/log\":suppressions=s", 1);
  setenv("DURESS_OPTIONS", "stats=1:log_path=/tmp/x:seed=7", 1);
  EXPECT_EQ(take_log_path(), "/tmp/x");
  EXPECT_STREQ(std::getenv("DURESS_OPTIONS"), "stats=1:seed=7");
  EXPECT_EQ(take_log_path(), "/a b/log");
  unsetenv("DURESS_OPTIONS");
  setenv("TSAN_OPTIONS", "log_path='/q':x=1", 1);
  EXPECT_EQ(take_log_path(), "/q");
  setenv("TSAN_OPTIONS", "my_log_path=/no", 1);
  EXPECT_EQ(take_log_path(), "");
  unsetenv("TSAN_OPTIONS");
  EXPECT_EQ(take_log_path(), "");
}

finding::Frame frame(const char* function, const char* file, std::uint32_t line) {
  finding::Frame result;
  result.function = function;
  result.file = file;
  result.line = line;
  result.column = 3;
  result.module = "/bin/prog";
  result.module_offset = 0x1234;
  return result;
}

report::Document document_with(const finding::Race& race) {
  report::Document result;
  result.root_pid = 42;
  static_cast<finding::Race&>(result.races.emplace_back()) = race;
  return result;
}

TEST(TsanWriterTest, ReadsAsThreadSanitizerPrints) {
  finding::Race race;
  race.id = "R-0001";
  race.variable = "Cache::size_";
  race.address = 0x5000;
  race.sites[0].access = finding::Access::kWrite;
  race.sites[0].size = 4;
  race.sites[0].thread = 1;
  race.sites[0].locks = {"mutex_"};
  race.sites[0].stack = {frame("Cache::clear", "/src/cache.h", 18), frame("main", "/src/main.cc", 9)};
  race.sites[1].access = finding::Access::kAtomicRead;
  race.sites[1].size = 4;
  race.sites[1].stack = {frame("Cache::newest", "/src/cache.h", 22)};
  race.block.kind = finding::BlockKind::kGlobal;
  race.block.name = "cache";
  race.block.size = 64;
  race.block.offset = 16;
  race.threads = {{0, -1, "", {}}, {1, 0, "evictor", {frame("main", "/src/main.cc", 8)}}};
  report::Document judged = document_with(race);
  judged.races[0].judgement.emplace().kind = finding::VerdictKind::kDestructive;
  EXPECT_EQ(report::to_tsan(judged),
            "==================\n"
            "WARNING: ThreadSanitizer: data race, destructive (pid=42)\n"
            "  Atomic read of size 4 at 0x5000 by main thread:\n"
            "    #0 Cache::newest /src/cache.h:22:3 (prog+0x1234)\n\n"
            "  Previous write of size 4 at 0x5000 by thread T1 (mutexes: mutex_):\n"
            "    #0 Cache::clear /src/cache.h:18:3 (prog+0x1234)\n"
            "    #1 main /src/main.cc:9:3 (prog+0x1234)\n\n"
            "  Location is global 'cache' of size 64 at 0x4ff0\n\n"
            "  Thread T1 'evictor' created by main thread at:\n"
            "    #0 main /src/main.cc:8:3 (prog+0x1234)\n\n"
            "  Duress: variable Cache::size_, id R-0001\n\n"
            "SUMMARY: ThreadSanitizer: data race, destructive /src/cache.h:18:3 in Cache::clear\n"
            "==================\n"
            "ThreadSanitizer: reported 1 warnings\n");
  EXPECT_NE(report::to_tsan(document_with(race)).find("ThreadSanitizer: data race (pid=42)"),
            std::string::npos);
  EXPECT_EQ(report::to_tsan(report::Document{}), "");
}

TEST(TsanWriterTest, HostileNamesAndMissingOnesStayOnTheirLines) {
  finding::Race race;
  race.id = "R-0002";
  race.variable = "x\n==================\nSUMMARY: \033[2J";
  race.sites[0].access = finding::Access::kWrite;
  race.sites[0].thread = 1;
  race.sites[0].thread_name = "a\rb\033]0;c";
  race.sites[0].locks = {"l\n\xff"};
  race.sites[0].stack = {frame("f\n#9", "/s\n/x.cc", 1)};
  race.block.kind = finding::BlockKind::kHeap;
  std::string text = report::to_tsan(document_with(race));
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_EQ(text.find("\nSUMMARY: "), text.rfind("\nSUMMARY: "));
  EXPECT_NE(text.find("[failed to restore the stack]"), std::string::npos);
}

}  // namespace
}  // namespace duress::cli
