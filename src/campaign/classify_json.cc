// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "campaign/classify.h"
#include "campaign/failure_json.h"

namespace duress::campaign {
namespace {

using Json = nlohmann::ordered_json;

Json rate_json(const Rate& rate) {
  Json json;
  json["model"] = rate.model;
  json["heuristic"] = rate.heuristic;
  if (!rate.fair) json["fair"] = false;
  json["failed"] = rate.failed;
  json["runs"] = rate.runs;
  return json;
}

}  // namespace

std::string with_verdicts(const std::string& document, const std::map<std::string, Verdict>& verdicts,
                          bool complete) {
  Json json = Json::parse(document);
  json["complete"] = complete;
  for (Json& race : json["races"]) {
    auto found = verdicts.find(race.value("variable", ""));
    if (found == verdicts.end()) continue;
    const Verdict& verdict = found->second;
    race["confirmed"] = verdict.confirmed;
    if (verdict.verdict.empty()) continue;
    race["verdict"] = verdict.verdict;
    Json evidence;
    if (verdict.verdict == "destructive") {
      evidence["failure"] = schema_failure(verdict.failure.kind);
      evidence["model"] = verdict.by.model;
      evidence["heuristic"] = verdict.by.heuristic;
      evidence["fair"] = verdict.by.fair;
    }
    evidence["rates"] = Json::array();
    for (const Rate& rate : verdict.rates) evidence["rates"].push_back(rate_json(rate));
    evidence["counterfactual"] = {{"failed", verdict.counterfactual.failed},
                                  {"runs", verdict.counterfactual.runs}};
    if (verdict.verdict == "destructive") {
      evidence["replay"] = verdict.token;
      evidence["replayed"] = verdict.replayed;
      evidence["replays"] = verdict.replays;
    }
    race["evidence"] = evidence;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::campaign
