// SPDX-License-Identifier: Apache-2.0
//
// A race, a failure, an access, a stack as JSON. Paths below `cwd` are written relative to it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/document.h"

namespace duress::report {

nlohmann::ordered_json to_json(const std::vector<finding::Frame>& stack, const std::string& cwd);
nlohmann::ordered_json to_json(const finding::AccessReport& access, const std::string& cwd);
nlohmann::ordered_json to_json(const finding::Race& race, const std::string& cwd);
nlohmann::ordered_json to_json(const RaceEntry& race, const std::string& cwd);
nlohmann::ordered_json to_json(const FailureEntry& entry, const std::string& cwd);

}  // namespace duress::report
