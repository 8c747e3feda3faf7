// SPDX-License-Identifier: Apache-2.0
#include "report/path.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

TEST(Path, RelativeBelowTheFolderOnly) {
  EXPECT_EQ(shown_path("/p/src/a.cc", "/p"), "src/a.cc");
  EXPECT_EQ(shown_path("/p/build/../src/a.cc", "/p"), "src/a.cc");
  EXPECT_EQ(shown_path("/pq/a.cc", "/p"), "/pq/a.cc");
  EXPECT_EQ(shown_path("/p", "/p"), "/p");
  EXPECT_EQ(shown_path("a.cc", "/p"), "a.cc");
  EXPECT_EQ(shown_path("", "/p"), "");
  EXPECT_EQ(shown_path("/a.cc", "/"), "a.cc");
}

TEST(Path, PrintableLeavesTextAlone) {
  EXPECT_EQ(printable("Cache<int>::get – ünïcode 漢字"), "Cache<int>::get – ünïcode 漢字");
}

TEST(Path, PrintableDisarms) {
  EXPECT_EQ(printable("\033[31m\n\t\x7f"), "\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\x9b1m");  // C1: one-byte CSI
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\u{202e}evil");                               // right-to-left override
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");           // overlong newline
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xe6\xbc"), "\\xe6\\xbc");           // cut off
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace duress::report
