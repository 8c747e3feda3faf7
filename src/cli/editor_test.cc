// SPDX-License-Identifier: Apache-2.0
#include "cli/editor.h"

#include <gtest/gtest.h>

namespace duress::cli {
namespace {

std::string link_of(const std::string& choice) {
  std::string error, link = editor_link(choice, error);
  EXPECT_EQ(error, "") << choice;
  return link;
}

std::string error_of(const std::string& choice) {
  std::string error;
  EXPECT_EQ(editor_link(choice, error), "") << choice;
  return error;
}

TEST(EditorTest, NamesAndTemplates) {
  EXPECT_EQ(link_of(kDefaultEditor), "vscode://file{file}:{line}:{column}");
  EXPECT_NE(link_of("clion").find("{line}"), std::string::npos);
  EXPECT_EQ(link_of("none"), "");
  EXPECT_EQ(link_of("emacs://open?url=file://{file}&line={line}"),
            "emacs://open?url=file://{file}&line={line}");
}

TEST(EditorTest, WhatCouldRunInThePageIsRefused) {
  for (const char* link : {"javascript:alert('{file}')", "JavaScript:{file}", "data:text/html,{file}",
                           "vbscript:{file}", "blob:{file}"})
    EXPECT_NE(error_of(link).find("refused"), std::string::npos) << link;
  // Neither is a scheme: browsers skip white space before and tabs within one.
  for (const char* link :
       {" javascript:{file}", "java\tscript:{file}", "\x01javascript:{file}", "{file}", ""})
    EXPECT_NE(error_of(link).find("must be vscode, clion, none or a link"), std::string::npos) << link;
  EXPECT_NE(error_of("vscode://file:{line}").find("must have {file}"), std::string::npos);
  EXPECT_NE(error_of("x://{file}\n").find("no spaces"), std::string::npos);
  EXPECT_NE(error_of("vscod").find("nearest: vscode"), std::string::npos);
}

}  // namespace
}  // namespace duress::cli
