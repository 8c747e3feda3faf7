// SPDX-License-Identifier: Apache-2.0
//
// A report as text for people, editors and problem matchers.
#ifndef DURESS_REPORT_TEXT_WRITER_H_
#define DURESS_REPORT_TEXT_WRITER_H_

#include <string>

#include "report/document.h"
#include "report/style.h"

namespace duress::report {

std::string to_text(const Document& report, const FindingStyle& style, bool stats = false);

/// Suggested suppression lines, each with a comment that says which finding it is for.
std::string to_suppressions(const Document& report);

}  // namespace duress::report

#endif  // DURESS_REPORT_TEXT_WRITER_H_
