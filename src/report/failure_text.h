// SPDX-License-Identifier: Apache-2.0
//
// A failure as text for people, editors and problem matchers.
#ifndef DURESS_REPORT_FAILURE_TEXT_H_
#define DURESS_REPORT_FAILURE_TEXT_H_

#include <string>

#include "finding/failure.h"
#include "finding/names.h"

namespace duress::report {

struct FailureStyle {
  bool color = false;
  bool quiet = false;    // only the first line
  bool verbose = false;  // all frames
};

/// What to say about one failure; which of it is known depends on who tells.
struct FailureView {
  const finding::Failure& failure;
  const finding::RunLogs& logs;
  std::string program;
  std::string errors;                // the end of its stderr; "": none, or already seen
  std::vector<std::string> remarks;  // lines to come after the stacks
};

std::string to_text(const FailureView& view, finding::Names& names, const FailureStyle& style);

/// "T2 'worker'".
std::string strand_text(int strand, const std::string& name, finding::Names& names);

/// "one switch", "3 switches".
std::string switches_text(u64 count);

}  // namespace duress::report

#endif  // DURESS_REPORT_FAILURE_TEXT_H_
