// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "repair/source_edit.h"

namespace duress::repair {
namespace {

FileEdit edit_of(const std::string& text) {
  FileEdit edit;
  edit.path = "f.cc";
  edit.before = edit.after = split_lines(text);
  return edit;
}

TEST(SourceEditJoin, OneLineMovesUp) {
  FileEdit edit =
      edit_of("int main() {\n  std::thread t(work);\n  print(x);\n  y = 1;\n  t.join();  // done\n}\n");
  EXPECT_EQ(joined_name(edit, 5), "t");
  ASSERT_TRUE(move_joins_above(edit, {5}, 3));
  Lines wanted = {
      "int main() {", "  std::thread t(work);", "  t.join();  // done", "  print(x);", "  y = 1;", "}"};
  EXPECT_EQ(edit.after, wanted);
}

TEST(SourceEditJoin, LoopsMoveAsAWhole) {
  for (const char* loop : {"  for (auto& t : all) t.join();\n", "  for (auto& t : all)\n    t.join();\n",
                           "  for (auto& t : all) {\n    t.join();\n  }\n"}) {
    FileEdit edit = edit_of(std::string("  print(x);\n") + loop + "  end();\n");
    std::size_t line = std::string(loop).find("\n") + 1 == std::string(loop).size() ? 2 : 3;
    EXPECT_EQ(joined_name(edit, line), "all");
    ASSERT_TRUE(move_joins_above(edit, {line}, 1)) << loop;
    Lines wanted = split_lines(std::string(loop) + "  print(x);\n  end();\n");
    EXPECT_EQ(edit.after, wanted);
  }
}

TEST(SourceEditJoin, ALoopOverNumbersJoinsAll) {
  FileEdit edit = edit_of("  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);\n");
  EXPECT_EQ(joined_name(edit, 1), "threads");
}

TEST(SourceEditJoin, SeveralKeepTheirOrder) {
  FileEdit edit =
      edit_of("  if (x != 1) fail();\n  a.join();\n  work();\n  pthread_join(b[0], nullptr);\n  end();\n");
  EXPECT_EQ(joined_name(edit, 4), "b[0]");
  ASSERT_TRUE(move_joins_above(edit, {2, 4}, 1));
  Lines wanted = {"  a.join();", "  pthread_join(b[0], nullptr);", "  if (x != 1) fail();", "  work();",
                  "  end();"};
  EXPECT_EQ(edit.after, wanted);
}

TEST(SourceEditJoin, WhatIsNotClearIsLeftAlone) {
  struct {
    const char* text;
    std::size_t line, above;
  } const cases[] = {
      {"  print(x);\n}\nvoid g() {\n  t.join();\n", 4, 1},            // another block
      {"  print(x);\n  if (y) {\n    t.join();\n  }\n", 3, 1},        // under a condition
      {"  print(x);\n  if (y)\n    t.join();\n", 3, 1},               // the same without braces
      {"  print(x);\n  if (y) t.join();\n", 2, 1},                    // on one line
      {"  int a = f(1,\n            x);\n  t.join();\n", 3, 2},       // the middle of a statement
      {"  print(x);\n  std::thread t(g);\n  t.join();\n", 3, 1},      // it is made in between
      {"  print(x);\n  void* r;\n  pthread_join(t, &r);\n", 3, 1},    // what it needs is declared in between
      {"  print(x);\n  t.join(); u.join();\n", 2, 1},                 // two on one line
      {"  t.join();\n  print(x);\n", 1, 2},                           // it stands there already
      {"  else print(x);\n  t.join();\n", 2, 1},                      // half of a statement
      {"  print(x);\n  t.join();\n", 2, 9},                           // no such line
      {"  while (f(x)) {\n    print(x);\n  }\n  t.join();\n", 4, 2},  // in a loop
  };
  for (const auto& one : cases) {
    FileEdit edit = edit_of(one.text);
    EXPECT_FALSE(move_joins_above(edit, {one.line}, one.above)) << one.text;
    EXPECT_EQ(edit.after, edit.before) << one.text;
  }
}

}  // namespace
}  // namespace duress::repair
