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

TEST(SourceEdit, TheDiffSaysWhatHasMoved) {
  FileEdit edit = edit_of("a\nb\nc\nd\n  p = this;\n  x = 1;\ne\nf\ng\nh\n");
  std::swap(edit.after[4], edit.after[5]);
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
