// SPDX-License-Identifier: Apache-2.0
//
// A race is one result at its write, with the other access as a related location, both stacks, and a code
// flow with a thread flow per thread. Where an execution is known the flow is that execution; else it is the
// two stacks. The fingerprint is the race's id, which does not change with line numbers.
#include "report/sarif_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/formats.h"
#include "report/path.h"
#include "report/sarif_line_hash.h"
#include "report/sarif_places.h"

namespace duress::report {
namespace {

struct Rule {
  const char *id, *name, *level, *brief, *full, *help;
};

constexpr Rule kRules[] = {
    {"race/destructive", "DestructiveRace", "error", "A data race that makes the program misbehave",
     "The race was attacked with legal schedules and values until the program failed; the failure replays, "
     "and "
     "without the racing values it does not come.",
     "Order the two accesses: with a lock, an atomic, or by publishing only what is complete. The replay "
     "line in "
     "the message shows the failing execution again."},
    {"race/confirmed", "ConfirmedRace", "warning", "A data race whose two accesses were brought together",
     "An execution was seen in which the two accesses come at the same time. No harm was found, which does "
     "not "
     "mean that there is none: a data race is undefined behaviour.",
     "Order the two accesses, or make the variable atomic."},
    {"race/unconfirmed", "UnconfirmedRace", "note", "A data race that was detected, but not brought together",
     "Nothing orders the two accesses, but no execution was made in which they come at the same time.",
     "Order the two accesses, or make the variable atomic."},
    {"failure", "Failure", "error", "A schedule that makes the program fail",
     "An interleaving of the program's threads ends in a crash, a deadlock, or a wrong result.",
     "The replay line in the message shows the failing execution again."},
};

std::size_t rule_index(const std::string& id) {
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    if (id == kRules[i].id) return i;
  }
  return 0;
}

Json stack_json(const Json& frames, const std::string& message) {
  Json stack;
  stack["message"]["text"] = sarif_text(message);
  stack["frames"] = Json::array();
  for (const Json& frame : frames) {
    Json one;
    if (!text_at(frame, "file").empty())
      one["location"] = location(frame, text_at(frame, "function"));
    else
      one["location"]["message"]["text"] = sarif_text(text_at(frame, "function"));
    if (std::string module = text_at(frame, "module"); !module.empty()) one["module"] = printable(module);
    stack["frames"].push_back(std::move(one));
  }
  return stack;
}

/// Not of a library that came with the machine.
bool is_user_code(const Json& frame) {
  const std::string file = text_at(frame, "file");
  return !file.empty() && file.rfind("/usr/", 0) != 0;
}

void put_flows(Json& result, Json flows) {
  if (!flows.empty()) result["codeFlows"] = Json::array({{{"threadFlows", std::move(flows)}}});
}

Json result_of(const char* rule, const std::string& id, const std::vector<std::string>& text) {
  Json result;
  std::size_t index = rule_index(rule);
  result["ruleId"] = rule;
  result["ruleIndex"] = index;
  result["level"] = kRules[index].level;
  std::string message;
  for (const std::string& line : text) message += (message.empty() ? "" : "\n") + sarif_text(line);
  result["message"]["text"] = message;
  result["partialFingerprints"]["duressId/v1"] = printable(id);
  return result;
}

/// What code scanning services follow a finding by; they compute it themselves where it is missing.
void put_line_hash(Json& result, const StoredDocument& document, const Json& place) {
  std::filesystem::path file = text_at(place, "file");
  if (file.is_relative()) file = document.folder / file;
  std::string hash = line_hash_of_file(file.string(), number_at(place, "line"));
  if (!hash.empty()) result["partialFingerprints"]["primaryLocationLineHash"] = hash;
}

/// Both accesses of a pair as places, with their stacks. The first place of the first pair is the result's.
void put_pair(Json& result, const Json& pair) {
  std::string variable = text_at(pair, "variable");
  const Json& sites = list_at(pair, "sites");
  std::size_t first = headline_of(pair);
  for (std::size_t i = 0; i < sites.size() && i < 2; ++i) {
    const Json& side = sites[i == 0 ? first : 1 - first];
    if (!side.is_object()) continue;
    Json where = location(side, access_words(side, variable));
    bool main = result["locations"].empty();
    if (!main) where["id"] = result["relatedLocations"].size() + 1;
    result[main ? "locations" : "relatedLocations"].push_back(std::move(where));
    if (list_at(side, "stack").empty()) continue;
    Json stack = stack_json(list_at(side, "stack"), access_words(side, variable));
    Json& stacks = result["stacks"];  // pairs share accesses, and SARIF wants each stack once
    if (std::find(stacks.begin(), stacks.end(), stack) == stacks.end()) stacks.push_back(std::move(stack));
  }
}

Json to_result(const StoredDocument& document, const std::vector<const Json*>& pairs) {
  const Json& race = *pairs[0];
  std::string id = text_at(race, "id");
  std::vector<std::string> text{fmt::format("{} [{}]", title_of(race), id)};
  for (const std::string& line : story_of(pairs)) text.push_back(line);
  if (std::string line = replay_line(document, race); !line.empty()) text.push_back("replay: " + line);
  Json result = result_of(rule_of(race), id, text);
  for (const char* list : {"locations", "relatedLocations", "stacks"}) result[list] = Json::array();
  if (const Json& sites = list_at(race, "sites"); headline_of(race) < sites.size())
    put_line_hash(result, document, sites[headline_of(race)]);
  bool known = true;
  for (const Json* pair : pairs) {
    put_pair(result, *pair);
    known = known && pair->contains("baseline");
  }
  for (const char* list : {"relatedLocations", "stacks"}) {
    if (result[list].empty()) result.erase(list);
  }
  const finding::Lanes* lanes = document.lanes_for(id);
  Json flows = lanes != nullptr ? flows_of(*lanes) : Json::array();
  put_flows(result, flows.empty() ? flows_of_stacks(race) : std::move(flows));
  if (std::string verdict = text_at(race, "verdict"); !verdict.empty())
    result["properties"]["verdict"] = printable(verdict);
  if (known) result["baselineState"] = "unchanged";
  return result;
}

Json failure_result(const StoredDocument& document, const Json& failure) {
  std::string id = text_at(failure, "id");
  std::vector<std::string> text{title_of(failure)};
  if (std::string line = replay_line(document, failure); !line.empty()) text.push_back("replay: " + line);
  Json result = result_of("failure", id, text);
  result["locations"] = Json::array();
  Json stacks = Json::array();
  for (const Json& stack : list_at(failure, "stacks")) {
    if (!list_at(stack, "stack").empty())
      stacks.push_back(stack_json(list_at(stack, "stack"), fmt::format("T{}", number_at(stack, "thread"))));
  }
  const std::size_t others = stacks.size();
  for (const MemoryStack& one : memory_stacks(failure)) {
    stacks.push_back(stack_json(one.frames, one.words));
    // Where the memory was freed and allocated; the access itself is the place of the result.
    const auto user = std::find_if(one.frames.begin(), one.frames.end(),
                                   [](const Json& frame) { return is_user_code(frame); });
    if (stacks.size() == others + 1 || user == one.frames.end()) continue;
    Json where = location(*user, one.words);
    where["id"] = result["relatedLocations"].size() + 1;
    result["relatedLocations"].push_back(std::move(where));
  }
  Json place = failure;
  for (const Json& stack : list_at(failure, "stacks")) {
    for (const Json& frame : list_at(stack, "stack")) {
      if (text_at(place, "file").empty()) place = frame;
    }
  }
  // Code scanning wants a place for everything; of a wrong output only the program is known.
  if (text_at(place, "file").empty()) {
    const Json& target = list_at(document.json, "target");
    place = {{"file", !target.empty() && target[0].is_string() ? target[0].get<std::string>() : "program"}};
  }
  result["locations"].push_back(location(place, text[0]));
  put_line_hash(result, document, place);
  if (!stacks.empty()) result["stacks"] = std::move(stacks);
  if (const finding::Lanes* lanes = document.lanes_for(id)) put_flows(result, flows_of(*lanes));
  return result;
}

Json rules_json() {
  Json rules = Json::array();
  for (const Rule& rule : kRules) {
    bool error = rule.level == std::string("error");
    Json one;
    one["id"] = rule.id;
    one["name"] = rule.name;
    one["shortDescription"]["text"] = rule.brief;
    one["fullDescription"]["text"] = rule.full;
    one["help"]["text"] = rule.help;
    one["defaultConfiguration"]["level"] = rule.level;
    one["properties"] = {{"tags", {"concurrency", "data-race"}},
                         {"precision", rule.id == std::string("race/unconfirmed") ? "high" : "very-high"},
                         {"problem.severity", error                               ? "error"
                                              : rule.level == std::string("note") ? "recommendation"
                                                                                  : "warning"}};
    rules.push_back(std::move(one));
  }
  return rules;
}

}  // namespace

std::string to_sarif(const StoredDocument& document) {
  Json run;
  Json& driver = run["tool"]["driver"];
  driver["name"] = "Duress";
  std::string version = text_at(document.json, "version");
  if (!version.empty()) driver["version"] = printable(version);
  driver["rules"] = rules_json();
  run["automationDetails"]["id"] = "duress/" + uri_of(text_at(document.json, "command")) + "/";
  run["columnKind"] = "utf16CodeUnits";
  if (!document.folder.empty()) run["originalUriBaseIds"]["%SRCROOT%"]["uri"] = uri_of(document.folder) + "/";
  if (const Json& summary = object_at(document.json, "summary"); !summary.empty())
    run["properties"]["summary"] = summary;
  run["results"] = Json::array();
  for (const std::vector<const Json*>& race : races_of(document))
    run["results"].push_back(to_result(document, race));
  for (const Json& failure : list_at(document.json, "failures"))
    run["results"].push_back(failure_result(document, failure));
  Json json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = Json::array({std::move(run)});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

DURESS_DEFINE_FORMAT(Sarif, to_sarif, true);

}  // namespace duress::report
