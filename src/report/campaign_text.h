// SPDX-License-Identifier: Apache-2.0
//
// What `duress explore` and `duress classify` print at their end.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"

namespace duress::report {

/// "820 runs/s"; "" if no time has passed.
std::string rate_text(std::uint64_t runs, double seconds);

// REQUIRES of all: document.campaign is set, and for a search document.failures.

/// What may have kept the search from finding more, a line each.
std::vector<std::string> search_notes(const Document& document);
/// The result in one line.
std::string search_summary(const Document& document);

/// What kept races from being judged, a line each.
std::vector<std::string> verdict_notes(const Document& document);
/// How many variables have which verdict, in one line. `verbose`: with the rate of runs.
std::string verdict_summary(const Document& document, bool verbose);

}  // namespace duress::report
