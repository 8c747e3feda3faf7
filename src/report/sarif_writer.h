// SPDX-License-Identifier: Apache-2.0
//
// SARIF 2.1.0, in the subset that GitHub's code scanning shows.
#pragma once

#include <string>

#include "report/stored_document.h"

namespace duress::report {

std::string to_sarif(const StoredDocument& document);

}  // namespace duress::report
