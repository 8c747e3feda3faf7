// SPDX-License-Identifier: Apache-2.0
#include "repair/source_edit.h"

#include <gtest/gtest.h>

namespace duress::repair {
namespace {

FileEdit edit_of(const std::string& text) {
  FileEdit edit;
  edit.path = "f.cc";
  edit.before = edit.after = split_lines(text);
  return edit;
}

TEST(SourceEdit, AGlobalBecomesAtomic) {
  FileEdit edit = edit_of("#include <thread>\n\nint counter = 0;\nint main() {\n  int counter = 1;\n}\n");
  ASSERT_TRUE(make_atomic(edit, "counter"));
  EXPECT_EQ(edit.after[0], "#include <atomic>");
  EXPECT_EQ(edit.after[3], "std::atomic<int> counter = 0;");
  EXPECT_EQ(edit.after[5], "  int counter = 1;");
}

TEST(SourceEdit, AFieldBecomesAtomicInItsOwnType) {
  FileEdit edit = edit_of(
      "#include <atomic>\nstruct A {\n  bool done;\n};\nstruct B {\n  volatile bool done = false;\n  Node* "
      "next{nullptr};\n};\n");
  ASSERT_TRUE(make_atomic(edit, "B::done"));
  ASSERT_TRUE(make_atomic(edit, "B::next"));
  EXPECT_EQ(edit.after[2], "  bool done;");
  EXPECT_EQ(edit.after[5], "  std::atomic<bool> done = false;");
  EXPECT_EQ(edit.after[6], "  std::atomic<Node*> next{nullptr};");
  EXPECT_EQ(edit.after.size(), edit.before.size());
}

TEST(SourceEdit, WhatIsNotClearIsLeftAlone) {
  FileEdit edit = edit_of("int a, b;\nint c;\nint c;\nstd::vector<int> d;\n");
  EXPECT_FALSE(make_atomic(edit, "a"));
  EXPECT_FALSE(make_atomic(edit, "c"));
  EXPECT_FALSE(make_atomic(edit, "d"));
  EXPECT_FALSE(make_atomic(edit, "heap block of 4 bytes"));
  EXPECT_EQ(edit.after, edit.before);
}

TEST(SourceEdit, AStatementGetsALock) {
  FileEdit edit = edit_of("std::mutex m;\nvoid f() {\n  ++x;  // here\n  return x;\n  int y = x;\n}\n");
  EXPECT_FALSE(add_lock(edit, 4, "m"));
  EXPECT_FALSE(add_lock(edit, 5, "m"));
  EXPECT_FALSE(add_lock(edit, 3, "other"));
  EXPECT_FALSE(add_lock(edit, 99, "m"));
  ASSERT_TRUE(add_lock(edit, 3, "m"));
  Lines wanted = {
      "std::mutex m;", "void f() {",   "  {", "    std::lock_guard guard(m);", "    ++x;  // here", "  }",
      "  return x;",   "  int y = x;", "}"};
  EXPECT_EQ(edit.after, wanted);
}

TEST(SourceEdit, AStatementMovesAndTheDiffSaysSo) {
  FileEdit edit = edit_of("a\nb\nc\nd\n  p = this;\n  x = 1;\ne\nf\ng\nh\n");
  EXPECT_FALSE(move_below(edit, 4, 6));
  ASSERT_TRUE(move_below(edit, 5, 6));
  EXPECT_EQ(unified_diff(edit),
            "--- a/f.cc\n+++ b/f.cc\n@@ -2,8 +2,8 @@\n b\n c\n d\n-  p = this;\n   x = 1;\n+  p = this;\n "
            "e\n f\n g\n");
  EXPECT_EQ(unified_diff(edit_of("a\n")), "");
}

TEST(SourceEdit, FarChangesAreTwoHunks) {
  FileEdit edit = edit_of("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
  edit.after[0] = "one";
  edit.after[11] = "twelve";
  EXPECT_EQ(
      unified_diff(edit),
      "--- a/f.cc\n+++ b/f.cc\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n"
      "+twelve\n");
}

}  // namespace
}  // namespace duress::repair
