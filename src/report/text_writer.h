// SPDX-License-Identifier: Apache-2.0
//
// A report as text for people, editors and problem matchers.
#ifndef DURESS_REPORT_TEXT_WRITER_H_
#define DURESS_REPORT_TEXT_WRITER_H_

#include <string>

#include "report/document.h"

namespace duress::report {

enum class Detail {
  kQuiet,    // the first line of each finding
  kNormal,   // stacks with library frames folded
  kVerbose,  // every frame, with modules and addresses where lines are missing
};

struct TextStyle {
  Detail detail = Detail::kNormal;
  bool color = false;
  bool stats = false;
};

std::string to_text(const Document& report, const TextStyle& style);

/// Suggested suppression lines, each with a comment that says which finding it is for.
std::string to_suppressions(const Document& report);

}  // namespace duress::report

#endif  // DURESS_REPORT_TEXT_WRITER_H_
