// SPDX-License-Identifier: Apache-2.0
#include "classify/classify_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/interleaving.h"
#include "report/trace_text.h"
#include "search/failure_json.h"

namespace duress::classify {
namespace {

using Json = nlohmann::ordered_json;

void put_attack(Json& json, const Attack& attack) {
  json["model"] = name_of(attack.model);
  if (attack.model == Model::kSc && attack.strategy != StrategyId::kRandom)
    json["strategy"] = exec::strategy_name(attack.strategy);
  else
    json["heuristic"] = attack.name();
  if (attack.predicts()) json["policy"] = policy_name(attack.policy);
}

Json rate_json(const Rate& rate) {
  Json json;
  put_attack(json, rate.attack);
  if (!rate.attack.fair) json["fair"] = false;
  json["failed"] = rate.failed;
  if (rate.discarded != 0) json["invalid"] = rate.discarded;
  json["runs"] = rate.runs;
  return json;
}

Json evidence_json(const RaceVerdict& race) {
  const Verdict& verdict = race.verdict;
  const Witness* witness = race.variable->witness();
  Json evidence;
  if (witness != nullptr) {
    evidence["failure"] = search::schema_failure(witness->failure.kind);
    evidence["text"] = witness->failure.text;
    put_attack(evidence, witness->by);
    evidence["fair"] = witness->by.fair;
    if (!witness->replaced.empty()) {
      const trail::Replaced& first = witness->replaced.front();
      evidence["read"] = report::value_text(first.value, first.size, first.type);
      evidence["newest"] = report::value_text(first.newest, first.size, first.type);
    }
  } else if (verdict.slower) {
    put_attack(evidence, verdict.slower->by);
    evidence["work"] = std::round(verdict.slower->times * 100) / 100;
  }
  evidence["rates"] = Json::array();
  for (const Rate& rate : verdict.rates) evidence["rates"].push_back(rate_json(rate));
  evidence["counterfactual"] = {{"failed", verdict.counterfactual.failed},
                                {"runs", verdict.counterfactual.runs}};
  if (witness != nullptr) {
    evidence["switches"] = witness->switches;
    evidence["replaced_values"] = witness->values;
    evidence["replayed"] = witness->replayed;
    evidence["replays"] = witness->replays;
    evidence["replay"] = race.token;
    if (!witness->interleaving.empty()) evidence["interleaving"] = witness->interleaving;
  }
  return evidence;
}

Json figures_json(const Figures& figures) {
  return {{"instances", figures.instances},
          {"writes", figures.writes},
          {"reads", figures.reads},
          {"largest", figures.largest},
          {"largest_uncompressed", figures.largest_uncompressed}};
}

}  // namespace

std::string with_verdicts(const std::string& document, const ClassifyDocument& verdicts) {
  Json json = Json::parse(document);
  json["complete"] = verdicts.complete;
  if (!verdicts.fails.empty()) json["fails"] = verdicts.fails;
  for (Json& race : json["races"]) {
    auto found = verdicts.races.find(race.value("id", ""));
    if (found == verdicts.races.end()) continue;
    const RaceVerdict& known = found->second;
    race["confirmed"] = known.confirmed;
    if (!verdicts.test.empty()) race["test"] = verdicts.test;
    if (known.baseline) race["baseline"] = true;
    if (known.variable == nullptr) continue;
    race["runs"] = known.verdict.runs;
    if (verdicts.stats) race["stats"] = figures_json(known.verdict.figures);
    if (known.verdict.kind == VerdictKind::kOpen) continue;
    race["verdict"] = name_of(known.verdict.kind);
    race["evidence"] = evidence_json(known);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::classify
