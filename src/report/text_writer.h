// SPDX-License-Identifier: Apache-2.0
//
// A report as text for people, editors and problem matchers.
#pragma once

#include <string>

#include "report/document.h"
#include "report/style.h"

namespace duress::report {

std::string to_text(const Document& report, const FindingStyle& style, bool stats = false);

/// Suggested suppression lines, each with a comment that says which finding it is for.
std::string to_suppressions(const Document& report);

}  // namespace duress::report
