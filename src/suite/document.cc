// SPDX-License-Identifier: Apache-2.0
#include "suite/document.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/coverage_json.h"
#include "report/json_writer.h"

namespace duress::suite {
namespace {

using report::Json;
using report::list_at;
using report::number_at;
using report::text_at;

/// The worst first.
int rank(const Json& race) {
  static const std::vector<std::string> order{"destructive", "slower", "no-harm-found", "same-value", ""};
  auto at = std::find(order.begin(), order.end(), text_at(race, "verdict"));
  return static_cast<int>(at - order.begin());
}

/// Ids are short: two cases may have different races of one id.
std::string key_of(const Json& race) {
  std::string text = text_at(race, "id") + '\1' + text_at(race, "variable");
  std::vector<std::string> sites;
  for (const Json& site : list_at(race, "sites"))
    sites.push_back(text_at(site, "file") + '\2' + text_at(site, "function"));
  std::sort(sites.begin(), sites.end());
  for (const std::string& site : sites) text += '\1' + site;
  return text;
}

report::Summary count(const Json& races) {
  std::vector<report::JudgedPair> pairs;
  for (const Json& race : races)
    pairs.push_back({text_at(race, "variable"), finding::verdict_named(text_at(race, "verdict"))});
  return report::count_races(pairs);
}

double seconds_of(const Json& document) {
  auto it = document.find("seconds");
  return it != document.end() && it->is_number() ? it->get<double>() : 0;
}

/// The cases so far.
struct Merged {
  Json races = Json::array(), cases = Json::array();
  std::map<std::string, std::size_t> known;  // index in `races`
  std::set<std::string> incomplete;
  std::optional<report::Coverage> coverage;
  bool complete = true;
  u64 runs = 0;

  void add(const CaseResult& result) {
    Json entry;
    entry["name"] = result.test_case.name;
    entry["test"] = result.test_case.test;
    entry["outcome"] = name_of(result.outcome);
    if (!result.why.empty()) entry["text"] = result.why;
    complete = complete && result.outcome != CaseOutcome::kOpen && result.outcome != CaseOutcome::kError;
    if (result.document.is_object()) {
      entry["runs"] = number_at(result.document, "runs");
      entry["seconds"] = seconds_of(result.document);
      entry["races"] = Json::array();
      runs += number_at(result.document, "runs");
      for (const std::string& what : report::texts_at(result.document, "incomplete"))
        incomplete.insert(result.test_case.name + ": " + what);
      for (const Json& race : list_at(result.document, "races")) {
        if (!race.is_object()) continue;
        entry["races"].push_back(text_at(race, "id"));
        add_race(race, result.test_case.name);
      }
      if (auto seen = result.document.find("coverage"); seen != result.document.end())
        add_coverage(*seen, entry);
    }
    cases.push_back(std::move(entry));
  }

  void add_coverage(const Json& seen, Json& entry) {
    std::optional<report::Coverage> one = report::coverage_of(seen);
    if (!one) return;
    entry["coverage"] = {{"runs", one->runs}, {"pairs", one->pairs.size()}, {"both", one->both()}};
    if (!coverage) coverage.emplace();
    coverage->add(*one);
  }

  void add_race(const Json& race, const std::string& test) {
    auto [at, fresh] = known.try_emplace(key_of(race), races.size());
    if (fresh) races.push_back(race);
    Json& entry = races[at->second];
    Json tests = fresh ? Json::array() : entry["tests"];
    tests.push_back(test);
    if (rank(race) < rank(entry)) entry = race;
    entry["tests"] = std::move(tests);
  }
};

}  // namespace

SuiteDocument merge_documents(const DocumentHead& head, const std::vector<CaseResult>& cases) {
  Merged merged;
  for (const CaseResult& one : cases) merged.add(one);
  SuiteDocument result;
  for (const Json& race : merged.races)
    result.races.push_back({text_at(race, "id"), text_at(race, "verdict"), text_at(race, "test")});
  result.summary = count(merged.races);
  result.coverage = std::move(merged.coverage);
  result.summary.judged = true;
  result.summary.runs = merged.runs;
  Json& json = result.json;
  json["schema"] = "duress/1";
  json["command"] = "test";
  json["version"] = DURESS_VERSION;
  json["seed"] = head.seed;
  json["target"] = {head.build_dir};
  json["runs"] = merged.runs;
  json["seconds"] = head.seconds;
  json["complete"] = merged.complete;
  json["incomplete"] = merged.incomplete;
  json["summary"] = report::json_of(result.summary);
  json["races"] = std::move(merged.races);
  json["cases"] = std::move(merged.cases);
  return result;
}

std::string SuiteDocument::text() const {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

report::Summary summary_of(const CaseResult& result) {
  return count(list_at(result.document, "races"));
}

}  // namespace duress::suite
