// SPDX-License-Identifier: Apache-2.0
//
// How much is printed of a finding, and where the reader is.
#ifndef DURESS_REPORT_STYLE_H_
#define DURESS_REPORT_STYLE_H_

#include <string>

namespace duress::report {

struct FindingStyle {
  bool color = false;
  bool quiet = false;               // only the first line of each finding
  bool verbose = false;             // all frames, all rates
  std::string cwd = {};             // paths below it are shown relative to it
  std::string replay_options = {};  // what `duress replay` needs beside the id: " --dir D"
};

}  // namespace duress::report

#endif  // DURESS_REPORT_STYLE_H_
