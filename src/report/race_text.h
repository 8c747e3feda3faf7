// SPDX-License-Identifier: Apache-2.0
//
// What is said of one race. The sentences are made here, once, and kept in the document: every format shows
// these.
#pragma once

#include <string>

#include "report/document.h"
#include "report/style.h"

namespace duress::report {

/// Fills `title`, `accesses` and `account`.
void describe(RaceEntry& race, const Document& document);

/// The first line of a race, and both accesses unless the style is quiet.
std::string heading_text(const RaceEntry& race, bool error, const FindingStyle& style);

}  // namespace duress::report
