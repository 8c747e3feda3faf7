// SPDX-License-Identifier: Apache-2.0
#include "suite/document.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/json_writer.h"

namespace duress::suite {
namespace {

using Json = nlohmann::ordered_json;

/// The worst first.
int rank(const Json& race) {
  static const std::vector<std::string> order{"destructive", "slower", "no-harm-found", "same-value", ""};
  auto at = std::find(order.begin(), order.end(), race.value("verdict", ""));
  return static_cast<int>(at - order.begin());
}

/// Ids are short: two cases may have different races of one id.
std::string key_of(const Json& race) {
  std::string text = race.value("id", "") + '\1' + race.value("variable", "");
  std::vector<std::string> sites;
  for (const Json& site : race.value("sites", Json::array()))
    sites.push_back(site.value("file", "") + '\2' + site.value("function", ""));
  std::sort(sites.begin(), sites.end());
  for (const std::string& site : sites) text += '\1' + site;
  return text;
}

}  // namespace

SuiteDocument merge_documents(const DocumentHead& head, const std::vector<CaseResult>& cases) {
  SuiteDocument result;
  Json races = Json::array(), listed = Json::array();
  std::map<std::string, std::size_t> known;  // index in `races`
  std::set<std::string> incomplete;
  bool complete = true;
  u64 runs = 0;
  for (const CaseResult& one : cases) {
    Json entry;
    entry["name"] = one.test_case.name;
    entry["test"] = one.test_case.test;
    entry["outcome"] = name_of(one.outcome);
    if (!one.why.empty()) entry["text"] = one.why;
    complete = complete && one.outcome != CaseOutcome::kOpen && one.outcome != CaseOutcome::kError;
    Json document = Json::parse(one.document, nullptr, false);
    if (document.is_object()) {
      entry["runs"] = document.value("runs", u64{0});
      entry["seconds"] = document.value("seconds", 0.0);
      entry["races"] = Json::array();
      runs += document.value("runs", u64{0});
      for (const Json& what : document.value("incomplete", Json::array()))
        incomplete.insert(one.test_case.name + ": " + what.get<std::string>());
      for (Json& race : document["races"]) {
        entry["races"].push_back(race["id"]);
        auto [at, fresh] = known.try_emplace(key_of(race), races.size());
        race["tests"] = fresh ? Json::array() : races[at->second]["tests"];
        race["tests"].push_back(one.test_case.name);
        if (fresh)
          races.push_back(race);
        else if (rank(race) < rank(races[at->second]))
          races[at->second] = race;
        else
          races[at->second]["tests"] = race["tests"];
      }
    }
    listed.push_back(std::move(entry));
  }
  std::vector<report::JudgedPair> pairs;
  for (const Json& race : races) {
    result.races.push_back({race.value("id", ""), race.value("verdict", ""), race.value("test", "")});
    pairs.push_back({race.value("variable", ""), finding::verdict_named(race.value("verdict", ""))});
  }
  result.summary = report::count_races(pairs);
  result.summary.judged = true;
  result.summary.runs = runs;
  Json json;
  json["schema"] = "duress/1";
  json["command"] = "test";
  json["version"] = DURESS_VERSION;
  json["seed"] = head.seed;
  json["target"] = {head.build_dir};
  json["runs"] = runs;
  json["seconds"] = head.seconds;
  json["complete"] = complete;
  json["incomplete"] = incomplete;
  json["summary"] = report::json_of(result.summary);
  json["races"] = std::move(races);
  json["cases"] = std::move(listed);
  result.json = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return result;
}

}  // namespace duress::suite
