// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace duress {
namespace {

std::string quoted(const char* s) {
  Arena arena;
  std::string result;
  {
    Text text(arena);
    text.quoted(s);
    result.assign(text.data(), text.size());
  }
  arena.release_all();
  return result;
}

TEST(Text, QuotesWhatJsonForbids) {
  EXPECT_EQ(quoted("a\"b\\c\n\x7f"), "\"a\\\"b\\\\c\\u000a\\u007f\"");
  EXPECT_EQ(quoted("h\xc3\xa9"), "\"h\xc3\xa9\"");
  EXPECT_EQ(quoted("\xff\xc3"), "\"\\u00ff\\u00c3\"");
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"");  // a surrogate is not a character
}

TEST(Text, NumbersAndMembers) {
  Arena arena;
  {
    Text text(arena);
    text.put('{').key("a").number(0).key("b").address(0x7f10).key("c").number(1234567890123u).put('}');
    EXPECT_EQ(std::string(text.data(), text.size()), R"({"a":0,"b":"0x7f10","c":1234567890123})");
  }
  arena.release_all();
}

}  // namespace
}  // namespace duress
