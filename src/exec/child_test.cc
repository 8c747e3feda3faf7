// SPDX-License-Identifier: Apache-2.0
#include "exec/child.h"

#include <gtest/gtest.h>

namespace duress::exec {
namespace {

TEST(Child, ReadsItsInputFromMemory) {
  std::string text(200'000, 'x');  // more than a pipe holds
  text += "\nend";
  ChildOutput ended = run_child({.argv = {"cat"}}, 60, text);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.output, text);
  EXPECT_EQ(ended.errors, "");
}

TEST(Child, WithoutInputItReadsNothing) {
  ChildOutput ended = run_child({.argv = {"cat"}}, 60);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.output, "");
}

TEST(Child, WhatCannotBeStartedIsSaid) {
  EXPECT_EQ(run_child({.argv = {"no-such-program-here"}}, 60, "text").code, -1);
}

}  // namespace
}  // namespace duress::exec
