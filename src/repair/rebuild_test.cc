// SPDX-License-Identifier: Apache-2.0
#include "repair/rebuild.h"

#include <gtest/gtest.h>

#include "repair/rewriter.h"

namespace duress::repair {
namespace {

using Words = std::vector<std::string>;

TEST(Rebuild, ACommandIsFoundInWhatTheCompilerCallsItself) {
  EXPECT_EQ(report::command_in("clang version 19 (3) /usr/bin/clang -D A=\"a\\ b\" f.cc"),
            Words({"/usr/bin/clang", "-D", "A=\"a b\"", "f.cc"}));
  EXPECT_EQ(report::command_in("clang version 19 (3)"), Words());
  EXPECT_EQ(report::command_in("clang version 19 (https://a /b)"), Words());
  EXPECT_EQ(report::command_in(""), Words());
}

TEST(Rebuild, CompilingAndLinkingAreTakenApart) {
  Compilation unit = compilation_of(
      {"/src",
       "/src/f.cc",
       {"/bin/clang", "--driver-mode=g++", "-fpass-plugin=/x/duress_pass.so", "-O1", "-MD", "-MF", "f.d",
        "-Xlinker", "/x/libduress_rt.a", "f.cc", "other.cc", "more.o", "-lz", "-o", "f", "-D", "A=b"}});
  EXPECT_TRUE(unit.cxx);
  EXPECT_EQ(unit.arguments, Words({"-O1", "-D", "A=b"}));
  EXPECT_EQ(unit.linking, Words({"more.o", "-lz"}));
}

TEST(Rebuild, WhatOnlyCompilesSaysNothingAboutLinking) {
  Compilation unit =
      compilation_of({"/src", "/src/f.c", {"/bin/clang", "-g", "-c", "f.c", "-lz", "-o", "f.o"}});
  EXPECT_FALSE(unit.cxx);
  EXPECT_EQ(unit.arguments, Words({"-g"}));
  EXPECT_EQ(unit.linking, Words());
}

TEST(Rewriter, VariablesHaveNamesInTheSourceOrNot) {
  EXPECT_EQ(name_in_source("counter"), "counter");
  EXPECT_EQ(name_in_source("ns::Account::balance_"), "balance_");
  EXPECT_EQ(name_in_source("main()::n"), "n");
  EXPECT_EQ(name_in_source("table[3]"), "table");
  EXPECT_EQ(name_in_source("heap block of 4 bytes"), "");
  EXPECT_EQ(name_in_source("*p"), "");
}

}  // namespace
}  // namespace duress::repair
