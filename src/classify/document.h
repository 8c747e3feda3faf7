// SPDX-License-Identifier: Apache-2.0
//
// The races of a campaign and their verdicts, as documents have them.
#pragma once

#include <string>
#include <vector>

#include "classify/classify.h"
#include "report/document.h"

namespace duress::classify {

/// Fills in the races that were found and that `only` ("": all) means: a variable, an id, or the place of an
/// access. The others are not classified. Returns the names of all racing variables.
std::vector<std::string> fill_document(Classifier& classifier, const std::string& only,
                                       report::Suppressions& suppressions, report::Document& document);

/// Adds what the campaign learned of each race, and how its executions went; keeps the witnesses where
/// `duress replay` finds them. "" or why one could not be kept.
std::string add_verdicts(Classifier& classifier, report::Document& document);

}  // namespace duress::classify
