// SPDX-License-Identifier: Apache-2.0
//
// How much is printed of a finding, and where the reader is.
#pragma once

#include <string>

namespace duress::report {

struct FindingStyle {
  bool color = false;
  bool quiet = false;               // only the first line of each finding
  bool verbose = false;             // all frames, all rates
  std::string cwd = {};             // paths below it are shown relative to it
  std::string replay_options = {};  // what `duress replay` needs beside the id: " --dir D"

  std::string bold(const std::string& text) const { return colored("1", text); }
  std::string red(const std::string& text) const { return colored("1;31", text); }
  std::string magenta(const std::string& text) const { return colored("1;35", text); }
  std::string dim(const std::string& text) const { return colored("2", text); }

 private:
  std::string colored(const char* code, const std::string& text) const {
    return color ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
  }
};

}  // namespace duress::report
