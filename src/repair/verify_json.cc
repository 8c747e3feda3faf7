// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "repair/advice.h"
#include "repair/orders.h"
#include "repair/weaken.h"
#include "search/failure_json.h"
#include "verify/verifier.h"

namespace duress::repair {

using Json = nlohmann::ordered_json;

std::string with_verification(const std::string& document, const verify::VerifyResult& result,
                              const std::map<std::string, std::string>& replays,
                              const std::optional<Advice>& advice, finding::Names& names) {
  search::SearchResult failures;
  failures.found = result.found;
  failures.kept_going = true;
  Json json = Json::parse(search::with_failures(document, failures, names));
  json["complete"] = result.complete;
  json["interleavings"] = result.interleavings;
  if (result.spurious != 0) json["spurious"] = result.spurious;
  if (result.timeouts != 0) json["timeouts"] = result.timeouts;
  if (result.waited && result.spurious == 0) json["assumes"] = "waits end only by signals";
  if (result.first_finding != 0) json["first_finding"] = result.first_finding;
  std::string bound;
  for (const std::string& one : result.bounds) bound += (bound.empty() ? "" : "; ") + one;
  if (!bound.empty()) json["bound"] = bound;
  for (Json& race : json["races"]) {
    auto replay = replays.find(race.value("id", ""));
    if (replay != replays.end() && !replay->second.empty()) race["replay"] = replay->second;
  }
  if (advice) {
    json["advice"] = {{"text", advice->text}, {"interleavings", advice->interleavings}};
    if (!advice->edits.empty()) json["advice"]["diff"] = advice->diff();
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string with_fixes(const std::string& document, const std::map<std::string, Advice>& fixes) {
  if (fixes.empty()) return document;
  Json json = Json::parse(document);
  for (Json& race : json["races"]) {
    auto fix = fixes.find(race.value("id", ""));
    if (fix == fixes.end()) continue;
    race["fix"] = {{"kind", fix->second.kind}, {"text", fix->second.text}};
    if (!fix->second.edits.empty()) race["fix"]["diff"] = fix->second.diff();
    race["fix"]["passed"] = fix->second.interleavings;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string with_orders(const std::string& document, const std::vector<Weakened>& all) {
  Json json = Json::parse(document);
  json["orders"] = Json::array();
  for (const Weakened& one : all) {
    Json entry = {{"file", one.place.file},         {"line", one.place.line},
                  {"column", one.place.column},     {"operation", kind_text(one.kind)},
                  {"order", order_text(one.order)}, {"sufficient", order_text(one.sufficient)},
                  {"executions", one.executions}};
    if (!one.found.empty()) entry["with_less"] = one.found;
    if (one.bounded) entry["bounded"] = true;
    json["orders"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::repair
