// SPDX-License-Identifier: Apache-2.0
//
// What `duress verify` prints.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"
#include "report/style.h"

namespace duress::report {

// REQUIRES of all: document.verification and document.failures are set.

/// Races, failures, and the fix for them.
std::string verification_text(const Document& document, const FindingStyle& style);

/// The result in one line, and a line for each bound.
/// "about 1,200 (800 to 3,000)"
std::string estimate_text(const EstimatedTotal& estimate);
/// What the result takes for granted; "": nothing.
std::string assumptions_text(const Verification& verification);
std::vector<std::string> verification_summary(const Document& document);

/// Whether one operation needs its memory order, a line.
std::string order_text(const OrderEntry& entry, const FindingStyle& style);

}  // namespace duress::report
