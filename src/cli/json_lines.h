// SPDX-License-Identifier: Apache-2.0
//
// `--json=lines`: what a command finds, one JSON object per line, as it comes. docs/guide/report.md has the
// kinds of lines. A finding may come more than once, as more becomes known; its last line is what the
// document of --json has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/files.h"
#include "report/stored_document.h"

namespace duress::cli {

class JsonLines {
 public:
  /// The place in what --json was given: "-" of "lines", FILE of "lines:FILE"; "": one document is wanted.
  static std::string place_in(const std::string& json);

  /// Until then nothing is written. "" or why the place cannot be opened.
  std::string open(const std::string& place);
  bool on() const { return on_; }

  /// The first line. Written once; finish() does it if nobody has.
  void start(const std::string& command, std::int64_t seed, const std::vector<std::string>& target);
  /// Whether a line of progress is wanted, `seconds` after the beginning: one a second.
  bool due(double seconds);
  void progress(report::Json figures);
  /// A finding as the document has it, unless the last line about it says the same.
  void race(const report::Json& race);
  void failure(const report::Json& failure);
  /// A test case that has ended.
  void test_case(report::Json one);
  /// All findings of the document as they are now, and the rest of it as the last line.
  void finish(const report::Json& document);

 private:
  void finding(const char* kind, const report::Json& finding, const std::string& key);
  void write(const report::Json& line);

  exec::Descriptor file_;
  bool on_ = false, started_ = false;
  int fd_ = -1;
  double last_ = 0;
  std::map<std::string, std::string> written_;  // the last line of each finding
};

}  // namespace duress::cli
