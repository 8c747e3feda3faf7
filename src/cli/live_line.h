// SPDX-License-Identifier: Apache-2.0
//
// Progress on stderr: one line that is written over on a terminal, else one every 10 s.
#pragma once

#include <string>

namespace duress::cli {

class LiveLine {
 public:
  /// `silent`: nothing at all.
  explicit LiveLine(bool silent);
  /// Whether another text is wanted, `seconds` after the beginning.
  bool due(double seconds);
  void show(const std::string& text);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  bool silent_, live_ = false, shown_ = false;
  double last_ = 0;
};

}  // namespace duress::cli
