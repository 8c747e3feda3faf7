// SPDX-License-Identifier: Apache-2.0
//
// A race is one result at its write, with the other access as a related location, both stacks, and a code
// flow with a thread flow per thread. Where an execution is known the flow is that execution; else it is the
// two stacks. The fingerprint is the race's id, which does not change with line numbers.
#include "report/sarif_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/formats.h"
#include "report/path.h"

namespace duress::report {
namespace {

constexpr std::size_t kMostText = 1000;        // characters: more than that is no message
constexpr std::size_t kMostFlowEvents = 1000;  // what code scanning shows of a flow

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

/// Texts of the target: no control characters, no links (SARIF reads [text](1) as one), not without end.
std::string plain(const std::string& text) {
  std::string shown = printable(text.size() > kMostText ? text.substr(0, kMostText) + "…" : text), out;
  for (char c : shown) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Json physical(const std::string& file, std::uint64_t line, std::uint64_t column) {
  Json place;
  place["artifactLocation"]["uri"] = uri_of(file);
  if (file.empty() || file[0] != '/') place["artifactLocation"]["uriBaseId"] = "%SRCROOT%";
  // A result without a line would not be shown at all.
  place["region"]["startLine"] = std::max<std::uint64_t>(1, std::min<std::uint64_t>(line, 0x7fffffff));
  if (line != 0 && column != 0) place["region"]["startColumn"] = std::min<std::uint64_t>(column, 0x7fffffff);
  return place;
}

Json location(const std::string& file, std::uint64_t line, std::uint64_t column, const std::string& function,
              const std::string& message) {
  Json json;
  json["physicalLocation"] = physical(file, line, column);
  if (!function.empty())
    json["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", printable(function)}, {"kind", "function"}}});
  if (!message.empty()) json["message"]["text"] = plain(message);
  return json;
}

Json location(const Json& place, const std::string& message) {
  return location(text_at(place, "file"), number_at(place, "line"), number_at(place, "column"),
                  text_at(place, "function"), message);
}

std::string access_text(const Json& side, const std::string& variable) {
  bool reads = text_at(side, "access").find("read") != std::string::npos;
  return fmt::format("T{} {} {}", number_at(side, "thread"), reads ? "reads" : "writes", variable);
}

Json stack_json(const Json& frames, const std::string& message) {
  Json stack;
  stack["message"]["text"] = plain(message);
  stack["frames"] = Json::array();
  for (const Json& frame : frames) {
    Json one;
    if (!text_at(frame, "file").empty())
      one["location"] = location(frame, text_at(frame, "function"));
    else
      one["location"]["message"]["text"] = plain(text_at(frame, "function"));
    if (std::string module = text_at(frame, "module"); !module.empty()) one["module"] = printable(module);
    stack["frames"].push_back(std::move(one));
  }
  return stack;
}

Json thread_flow(const std::string& id, const std::string& name) {
  Json flow;
  flow["id"] = id;
  flow["message"]["text"] = plain(name.empty() ? id : id + " " + name);
  flow["locations"] = Json::array();
  return flow;
}

std::string event_text(const finding::Lanes& lanes, const finding::LaneEvent& event) {
  const std::string &operation = lanes.words[event.operation], &object = lanes.words[event.object];
  if (operation == "failure") return object;
  std::string text = operation + (object.empty() ? "" : " " + object);
  if (event.value == 0) return text;
  bool reads = operation.find("read") != std::string::npos;
  text += (reads ? " → " : " = ") + lanes.words[event.value];
  if (event.how == finding::LaneValue::kStale)
    text += fmt::format(" (stale, newest {})", lanes.words[event.newest]);
  if (event.how == finding::LaneValue::kFuture)
    text += fmt::format(" (future, memory held {})", lanes.words[event.newest]);
  return text;
}

/// The execution, a flow per thread; executionOrder ties them together.
Json flows_of(const finding::Lanes& all) {
  finding::Lanes lanes = tail_of(all, kMostFlowEvents);
  std::vector<Json> flows;
  for (const finding::LaneThread& thread : lanes.threads)
    flows.push_back(thread_flow(fmt::format("T{}", thread.id), thread.name));
  std::uint64_t order = 0;
  for (const finding::LaneEvent& event : lanes.events) {
    ++order;
    if (event.place == 0 || event.thread >= flows.size()) continue;
    const finding::LanePlace& place = lanes.places[event.place];
    Json one;
    one["location"] = location(place.file, place.line, 0, "", event_text(lanes, event));
    one["executionOrder"] = order;
    bool telling = event.how != finding::LaneValue::kNewest || lanes.words[event.operation] == "failure";
    one["importance"] = telling ? "essential" : "important";
    flows[event.thread]["locations"].push_back(std::move(one));
  }
  Json list = Json::array();
  for (Json& flow : flows) {
    if (!flow["locations"].empty()) list.push_back(std::move(flow));
  }
  return list;
}

/// The two stacks, outermost first, which is all that is known of a free run.
Json flows_of_stacks(const Json& race) {
  Json list = Json::array();
  for (const Json& side : list_at(race, "sites")) {
    Json flow = thread_flow(fmt::format("T{}", number_at(side, "thread")), text_at(side, "thread_name"));
    const Json& stack = list_at(side, "stack");
    for (std::size_t i = stack.size(); i-- > 0;) {
      if (text_at(stack[i], "file").empty()) continue;
      Json one;
      one["location"] = location(
          stack[i], i == 0 ? access_text(side, text_at(race, "variable")) : text_at(stack[i], "function"));
      one["importance"] = i == 0 ? "essential" : "important";
      flow["locations"].push_back(std::move(one));
    }
    if (!flow["locations"].empty()) list.push_back(std::move(flow));
  }
  return list;
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
  for (const std::string& line : text) message += (message.empty() ? "" : "\n") + plain(line);
  result["message"]["text"] = message;
  result["partialFingerprints"]["duressId/v1"] = printable(id);
  return result;
}

Json to_result(const StoredDocument& document, const Json& race) {
  std::string id = text_at(race, "id"), variable = text_at(race, "variable");
  std::vector<std::string> text{title_of(race)};
  for (const std::string& line : story_of(race)) text.push_back(line);
  if (std::string line = replay_line(document, race); !line.empty()) text.push_back("replay: " + line);
  Json result = result_of(rule_of(race), id, text);
  const Json& sites = list_at(race, "sites");
  std::size_t first = headline_of(race);
  result["locations"] = Json::array();
  result["relatedLocations"] = Json::array();
  result["stacks"] = Json::array();
  for (std::size_t i = 0; i < sites.size() && i < 2; ++i) {
    const Json& side = sites[i == 0 ? first : 1 - first];
    if (!side.is_object()) continue;
    Json where = location(side, access_text(side, variable));
    if (i != 0) where["id"] = 1;
    result[i == 0 ? "locations" : "relatedLocations"].push_back(std::move(where));
    if (!list_at(side, "stack").empty())
      result["stacks"].push_back(stack_json(list_at(side, "stack"), access_text(side, variable)));
  }
  for (const char* list : {"relatedLocations", "stacks"}) {
    if (result[list].empty()) result.erase(list);
  }
  const finding::Lanes* lanes = document.lanes_for(id);
  Json flows = lanes != nullptr ? flows_of(*lanes) : Json::array();
  put_flows(result, flows.empty() ? flows_of_stacks(race) : std::move(flows));
  if (std::string verdict = text_at(race, "verdict"); !verdict.empty())
    result["properties"]["verdict"] = printable(verdict);
  if (race.contains("baseline")) result["baselineState"] = "unchanged";
  return result;
}

Json failure_result(const StoredDocument& document, const Json& failure) {
  std::string id = text_at(failure, "id");
  std::vector<std::string> text{text_at(failure, "text")};
  if (text[0].empty()) text[0] = text_at(failure, "failure");
  if (std::string line = replay_line(document, failure); !line.empty()) text.push_back("replay: " + line);
  Json result = result_of("failure", id, text);
  result["locations"] = Json::array();
  Json stacks = Json::array();
  for (const Json& stack : list_at(failure, "stacks")) {
    if (!list_at(stack, "stack").empty())
      stacks.push_back(stack_json(list_at(stack, "stack"), fmt::format("T{}", number_at(stack, "thread"))));
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

std::string uri_of(const std::string& path) {
  static const std::string kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (char c : path) {
    if (kPlain.find(c) != std::string::npos)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  // An empty reference means "this document", and //x another host.
  if (uri.empty()) return "unknown";
  return uri;
}

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
  run["results"] = Json::array();
  for (const Json& race : list_at(document.json, "races"))
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
