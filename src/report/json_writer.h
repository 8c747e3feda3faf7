// SPDX-License-Identifier: Apache-2.0
//
// A document as the JSON that `--json` writes; docs/duress-1.schema.json describes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/document.h"

namespace duress::report {

nlohmann::ordered_json json_of(const Document& document);
nlohmann::ordered_json json_of(const Summary& summary);

/// The same as text, indented, with a newline at the end. Always valid UTF-8, whatever the target's names
/// hold.
std::string to_json(const Document& document);

}  // namespace duress::report
