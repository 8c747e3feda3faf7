// SPDX-License-Identifier: Apache-2.0
#include "cli/project_file.h"

#include <gtest/gtest.h>

namespace duress::cli {
namespace {

ProjectFile read(const std::string& text) {
  return read_project_file("p.toml", text, {"classify", "explore"});
}

TEST(ProjectFile, SettingsKnowTheirCommandAndLine) {
  ProjectFile file = read("seed = 7\n\n[classify]\nquiet = true\nsuppressions = [\"a\", \"b\"]\n");
  ASSERT_EQ(file.error, "");
  ASSERT_EQ(file.settings.size(), 3u);
  const ProjectSetting* seed = nullptr;
  const ProjectSetting* list = nullptr;
  for (const ProjectSetting& one : file.settings) {
    if (one.key == "seed") seed = &one;
    if (one.key == "suppressions") list = &one;
  }
  ASSERT_TRUE(seed != nullptr && list != nullptr);
  EXPECT_EQ(seed->command, "");
  EXPECT_EQ(file.place(*seed), "p.toml:1");
  EXPECT_EQ(list->command, "classify");
  EXPECT_EQ(list->line, 5u);
  EXPECT_EQ(list->values, std::vector<std::string>({"a", "b"}));
}

TEST(ProjectFile, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(read("seed = 7\n[clasify]\nruns = 1\n").error,
            "p.toml:2: [clasify] is not a command; nearest: classify");
  EXPECT_EQ(read("\nseed = 1.5\n").error,
            "p.toml:2: seed must be a text, a whole number, true, false or a list of texts");
  EXPECT_EQ(read("a = 1\nb = = 2\n").error.rfind("p.toml:2: ", 0), 0u);
  EXPECT_EQ(read("a = [1]\n").error.rfind("p.toml:1: a must be ", 0), 0u);
}

}  // namespace
}  // namespace duress::cli
