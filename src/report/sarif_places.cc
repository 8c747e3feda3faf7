// SPDX-License-Identifier: Apache-2.0
#include "report/sarif_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/path.h"

namespace duress::report {
namespace {

constexpr std::size_t kMostText = 1000;        // characters: more than that is no message
constexpr std::size_t kMostFlowEvents = 1000;  // what code scanning shows of a flow

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
  if (!message.empty()) json["message"]["text"] = sarif_text(message);
  return json;
}

Json thread_flow(const std::string& id, const std::string& name) {
  Json flow;
  flow["id"] = id;
  flow["message"]["text"] = sarif_text(name.empty() ? id : id + " " + name);
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

std::string sarif_text(const std::string& text) {
  std::string shown = printable(text.size() > kMostText ? text.substr(0, kMostText) + "…" : text), out;
  for (char c : shown) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Json location(const Json& place, const std::string& message) {
  return location(text_at(place, "file"), number_at(place, "line"), number_at(place, "column"),
                  text_at(place, "function"), message);
}

std::string access_words(const Json& side, const std::string& variable) {
  bool reads = text_at(side, "access").find("read") != std::string::npos;
  return fmt::format("T{} {} {}", number_at(side, "thread"), reads ? "reads" : "writes", variable);
}

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

Json flows_of_stacks(const Json& race) {
  Json list = Json::array();
  for (const Json& side : list_at(race, "sites")) {
    Json flow = thread_flow(fmt::format("T{}", number_at(side, "thread")), text_at(side, "thread_name"));
    const Json& stack = list_at(side, "stack");
    for (std::size_t i = stack.size(); i-- > 0;) {
      if (text_at(stack[i], "file").empty()) continue;
      Json one;
      one["location"] = location(
          stack[i], i == 0 ? access_words(side, text_at(race, "variable")) : text_at(stack[i], "function"));
      one["importance"] = i == 0 ? "essential" : "important";
      flow["locations"].push_back(std::move(one));
    }
    if (!flow["locations"].empty()) list.push_back(std::move(flow));
  }
  return list;
}

}  // namespace duress::report
