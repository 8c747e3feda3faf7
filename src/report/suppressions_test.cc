// SPDX-License-Identifier: Apache-2.0
#include "report/suppressions.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

finding::Race sample() {
  finding::Race race;
  race.variable = race.variable_key = "Cache::size_";
  finding::Frame top;
  top.function = "Cache::evict";
  top.signature = "Cache::evict(int)";
  top.file = "/p/src/cache.cc";
  top.line = 88;
  top.module = "/p/build/libcache.so.1";
  finding::Frame caller;
  caller.function = "main";
  caller.file = "/p/src/main.cc";
  caller.module = "/p/build/app";
  race.sites[0].access = finding::Access::kWrite;
  race.sites[0].stack = {top, caller};
  race.sites[1].stack = {caller};
  return race;
}

bool hides(const std::string& line) {
  Suppressions suppressions;
  EXPECT_EQ(suppressions.parse(line, "F"), "");
  return suppressions.hides(sample(), "/p");
}

TEST(Suppressions, Patterns) {
  EXPECT_TRUE(matches("evict", "Cache::evict"));
  EXPECT_TRUE(matches("^Cache", "Cache::evict"));
  EXPECT_FALSE(matches("^evict", "Cache::evict"));
  EXPECT_TRUE(matches("evict$", "Cache::evict"));
  EXPECT_FALSE(matches("Cache$", "Cache::evict"));
  EXPECT_TRUE(matches("^Cache::evict$", "Cache::evict"));
  EXPECT_FALSE(matches("^Cache::evict$", "Cache::evict2"));
  EXPECT_FALSE(matches("^evict$", "evict evict"));
  EXPECT_TRUE(matches("C*e::e*t", "Cache::evict"));
  EXPECT_TRUE(matches("^C*t$", "Cache::evict"));
  EXPECT_FALSE(matches("^C*x$", "Cache::evict"));
  EXPECT_TRUE(matches("*evict*", "Cache::evict"));
  EXPECT_TRUE(matches("^*t$", "t"));
  EXPECT_FALSE(matches("ab*ba$", "aba"));
  EXPECT_TRUE(matches("^abc", "abc"));
  EXPECT_FALSE(matches("abcd", "abc"));
}

TEST(Suppressions, RaceLooksAtFunctionFileModuleVariableOfAnyFrame) {
  EXPECT_TRUE(hides("race:Cache::evict"));
  EXPECT_TRUE(hides("race:^Cache::evict(int)$"));
  EXPECT_TRUE(hides("race:main.cc"));
  EXPECT_TRUE(hides("race:^src/cache.cc$"));
  EXPECT_TRUE(hides("race:libcache.so"));
  EXPECT_TRUE(hides("race:^Cache::size_$"));
  EXPECT_FALSE(hides("race:Queue"));
}

TEST(Suppressions, OtherTypes) {
  EXPECT_TRUE(hides("race_top:Cache::evict"));
  EXPECT_TRUE(hides("race_top:^main$"));  // the top frame of the other stack
  EXPECT_TRUE(hides("called_from_lib:libcache"));
  EXPECT_FALSE(hides("called_from_lib:libother"));
  for (const char* type : {"thread", "mutex", "signal", "deadlock"}) {
    EXPECT_FALSE(hides(std::string(type) + ":Cache::evict")) << type;
  }
}

TEST(Suppressions, CommentsSpaceAndLineEnds) {
  EXPECT_TRUE(hides("# known\n\n   race:Cache::evict  \r\n"));
  EXPECT_FALSE(hides("#race:Cache::evict\n"));
}

TEST(Suppressions, ErrorsNameTheLine) {
  Suppressions suppressions;
  EXPECT_EQ(suppressions.parse("race:a\nnonsense\n", "known.txt").rfind("known.txt:2: ", 0), 0u);
  EXPECT_EQ(suppressions.parse("# c\nrcae:x\n", "known.txt")
                .rfind("known.txt:2: unknown suppression type 'rcae'", 0),
            0u);
  EXPECT_EQ(suppressions.parse("race:\n", "known.txt").rfind("known.txt:1: ", 0), 0u);
  EXPECT_EQ(suppressions.parse("race:*\n", "known.txt").rfind("known.txt:1: ", 0), 0u);
  EXPECT_NE(suppressions.load("/nonexistent/known.txt").find("No such file"), std::string::npos);
}

TEST(Suppressions, UnusedOnesAreKnown) {
  Suppressions suppressions;
  ASSERT_EQ(suppressions.parse("race:Cache\nrace:foo\nrace:evict\ndeadlock:bar\n", "F"), "");
  EXPECT_TRUE(suppressions.hides(sample(), "/p"));
  auto unused = suppressions.unused();
  ASSERT_EQ(unused.size(), 1u);
  EXPECT_EQ(unused[0]->pattern, "foo");
  EXPECT_EQ(unused[0]->line, 2u);
}

TEST(Suppressions, TheSuggestionHidesItsRace) {
  finding::Race named = sample();
  EXPECT_EQ(suggest(named), "race:^Cache::size_$");
  EXPECT_TRUE(hides(suggest(named)));
  finding::Race unnamed = sample();
  unnamed.variable = "0x7f0012345678";
  unnamed.variable_key = "";
  EXPECT_EQ(suggest(unnamed), "race:^Cache::evict");
  unnamed.variable = unnamed.variable_key = "*p";
  EXPECT_EQ(suggest(unnamed), "race:^Cache::evict");
  EXPECT_TRUE(hides(suggest(unnamed)));
}

}  // namespace
}  // namespace duress::report
