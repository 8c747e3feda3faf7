// SPDX-License-Identifier: Apache-2.0
//
// A judged race as text: what `duress classify` prints of each.
#pragma once

#include <string>

#include "report/document.h"
#include "report/style.h"

namespace duress::report {

/// All races of the document, each variable's witness once.
std::string verdicts_text(const Document& document, const FindingStyle& style);

/// JUMBLE's figure 10 for one variable a line; "" if nothing was counted.
std::string figures_text(const Document& document);

}  // namespace duress::report
