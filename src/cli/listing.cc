// SPDX-License-Identifier: Apache-2.0
#include "cli/listing.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace duress::cli {

void pass_on_listing(const std::vector<std::string>& target) {
  auto lists = [](const std::string& word) {
    return word == "--gtest_list_tests" || word == "--gtest_list_tests=1" ||
           word == "--gtest_list_tests=true";
  };
  if (target.empty() || std::none_of(target.begin() + 1, target.end(), lists)) return;
  std::vector<char*> words;
  for (const std::string& word : target) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  unsetenv("DURESS_OPTIONS");
  execvp(words[0], words.data());  // if this fails, starting it as usual reports why
}

}  // namespace duress::cli
