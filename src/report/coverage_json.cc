// SPDX-License-Identifier: Apache-2.0
#include "report/coverage_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace duress::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const CoveragePlace& place) {
  Json json = {{"file", place.frame.file},
               {"line", place.frame.line},
               {"column", place.frame.column},
               {"function", place.frame.function},
               {"operation", place.operation}};
  if (!place.variable.empty()) json["variable"] = place.variable;
  return json;
}

CoveragePlace to_place(const Json& json) {
  CoveragePlace place;
  place.frame.file = json.at("file");
  place.frame.line = json.at("line");
  place.frame.column = json.at("column");
  place.frame.function = json.at("function");
  place.operation = json.at("operation");
  place.variable = json.value("variable", "");
  return place;
}

/// A name for each place of a campaign that does not depend on lines.
class PlaceNames {
 public:
  explicit PlaceNames(const Coverage& coverage) {
    for (const CoveragePair& pair : coverage.pairs) {
      for (const CoveragePlace* place : {&pair.first, &pair.second})
        equals_[general(*place)].insert({place->frame.line, place->frame.column});
    }
  }
  std::string of(const CoveragePlace& place) const {
    const auto& alike = equals_.at(general(place));
    auto position = std::distance(alike.begin(), alike.find({place.frame.line, place.frame.column}));
    return general(place) + '\1' + std::to_string(position);
  }

 private:
  static std::string general(const CoveragePlace& place) {
    return place.frame.file + '\1' + place.frame.function + '\1' + place.operation + '\1' + place.variable;
  }
  std::map<std::string, std::set<std::pair<std::uint32_t, std::uint32_t>>> equals_;
};

/// Every order that was seen: kind, earlier place, later place.
std::set<std::string> orders_of(const Coverage& coverage) {
  PlaceNames names(coverage);
  std::set<std::string> orders;
  for (const CoveragePair& pair : coverage.pairs) {
    std::string first = names.of(pair.first), second = names.of(pair.second);
    if (pair.forward != 0) orders.insert(pair.kind + '\2' + first + '\2' + second);
    if (pair.backward != 0) orders.insert(pair.kind + '\2' + second + '\2' + first);
  }
  return orders;
}

}  // namespace

Json json_of(const Coverage& coverage) {
  Json json = {
      {"runs", coverage.runs}, {"both", coverage.both()}, {"kinds", Json::array()}, {"pairs", Json::array()}};
  for (const KindOfPairs& kind : coverage.kinds())
    json["kinds"].push_back(
        {{"kind", kind.kind}, {"name", kind.name}, {"pairs", kind.pairs}, {"both", kind.both}});
  for (const CoveragePair& pair : coverage.pairs) {
    Json entry = {{"kind", pair.kind},
                  {"first", to_json(pair.first)},
                  {"second", to_json(pair.second)},
                  {"first_before_second", pair.forward},
                  {"second_before_first", pair.backward},
                  {"both", pair.both()}};
    if (pair.new_forward) entry["new_first_before_second"] = true;
    if (pair.new_backward) entry["new_second_before_first"] = true;
    json["pairs"].push_back(std::move(entry));
  }
  if (coverage.compared) json["since_last"] = {{"gained", coverage.gained}, {"lost", coverage.lost}};
  return json;
}

std::optional<Coverage> coverage_of(const Json& json) {
  try {
    Coverage coverage;
    coverage.runs = json.at("runs");
    for (const Json& entry : json.at("pairs")) {
      CoveragePair pair;
      pair.kind = entry.at("kind");
      pair.first = to_place(entry.at("first"));
      pair.second = to_place(entry.at("second"));
      pair.forward = entry.at("first_before_second");
      pair.backward = entry.at("second_before_first");
      pair.new_forward = entry.value("new_first_before_second", false);
      pair.new_backward = entry.value("new_second_before_first", false);
      coverage.pairs.push_back(std::move(pair));
    }
    if (auto since = json.find("since_last"); since != json.end()) {
      coverage.compared = true;
      coverage.gained = since->at("gained");
      coverage.lost = since->at("lost");
    }
    return coverage;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void compare(Coverage& coverage, const Coverage& last) {
  const std::set<std::string> before = orders_of(last), now = orders_of(coverage);
  PlaceNames names(coverage);
  coverage.compared = true;
  coverage.gained = coverage.lost = 0;
  for (const std::string& order : before) coverage.lost += now.count(order) == 0;
  for (const std::string& order : now) coverage.gained += before.count(order) == 0;
  for (CoveragePair& pair : coverage.pairs) {
    std::string first = names.of(pair.first), second = names.of(pair.second);
    pair.new_forward = pair.forward != 0 && before.count(pair.kind + '\2' + first + '\2' + second) == 0;
    pair.new_backward = pair.backward != 0 && before.count(pair.kind + '\2' + second + '\2' + first) == 0;
  }
}

}  // namespace duress::report
