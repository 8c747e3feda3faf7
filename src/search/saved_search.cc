// SPDX-License-Identifier: Apache-2.0
#include "search/saved_search.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "exec/files.h"
#include "report/coverage_json.h"

namespace duress::search {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 2;

Json to_json(const std::vector<trail::SitePair>& pairs) {
  Json list = Json::array();
  for (const trail::SitePair& pair : pairs) list.push_back({pair.first, pair.second});
  return list;
}

std::vector<trail::SitePair> to_pairs(const Json& list) {
  std::vector<trail::SitePair> pairs;
  for (const Json& entry : list) pairs.push_back({entry.at(0).get<u32>(), entry.at(1).get<u32>()});
  return pairs;
}

Json to_json(const RunFeedback& run) {
  Json json = {{"pairs", to_json(run.pairs)}, {"choices", run.choices}, {"strategy", raw(run.strategy)}};
  if (run.plan) json["plan"] = *run.plan;
  if (!run.observation) return json;
  json["signature"] = run.observation->signature;
  json["seen"] = run.observation->pairs;
  Json points = Json::array();
  for (const trail::SwitchPoint& point : run.observation->points)
    points.push_back({point.strand, point.place, point.visits, point.first_targets, point.last_targets});
  json["points"] = std::move(points);
  return json;
}

RunFeedback to_feedback(const Json& json) {
  RunFeedback run;
  run.pairs = to_pairs(json.at("pairs"));
  run.choices = json.at("choices");
  run.strategy = StrategyId{json.at("strategy").get<u32>()};
  if (json.contains("plan")) run.plan = json.at("plan").get<u32>();
  if (!json.contains("signature")) return run;
  run.observation = {json.at("signature").get<u64>(), json.at("seen").get<std::vector<u32>>(), {}};
  for (const Json& point : json.at("points")) {
    run.observation->points.push_back({point.at(0).get<u32>(), point.at(1).get<u32>(), point.at(2).get<u32>(),
                                       0, point.at(3).get<u64>(), point.at(4).get<u64>()});
  }
  return run;
}

/// What the search has learnt beside pairs that race.
Json to_json(const Guide& guide) {
  Json nodes = Json::array();
  for (const Guide::Node& node : guide.nodes()) {
    const trail::PlannedSwitch& last = node.last;
    nodes.push_back(
        {node.parent, node.cost, node.promising, node.done, last.strand, last.place, last.visit, last.to});
  }
  return {{"nodes", std::move(nodes)}, {"signatures", guide.signatures()}};
}

void restore(const Json& json, Guide& guide) {
  std::vector<Guide::Node> nodes;
  for (const Json& node : json.at("nodes")) {
    nodes.push_back(
        {node.at(0).get<u32>(),
         node.at(1).get<u32>(),
         node.at(2).get<bool>(),
         node.at(3).get<bool>(),
         {node.at(4).get<u32>(), node.at(5).get<u32>(), node.at(6).get<u32>(), node.at(7).get<u32>()}});
  }
  guide.restore(std::move(nodes), json.at("signatures").get<std::set<u64>>());
}

Json to_json(const Shares& shares) {
  Json arms = Json::array();
  for (const auto& [strategy, arm] : shares.arms()) arms.push_back({raw(strategy), arm.runs, arm.fresh});
  return arms;
}

void restore(const Json& json, Shares& shares) {
  std::map<StrategyId, Shares::Arm> arms;
  for (const Json& arm : json)
    arms[StrategyId{arm.at(0).get<u32>()}] = {arm.at(1).get<u64>(), arm.at(2).get<u64>()};
  shares.restore(std::move(arms));
}

}  // namespace

std::string search_path(const std::string& dir, const std::string& key, const char* suffix) {
  char name[20];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash_of(key)));
  return dir + "/searches/" + name + suffix;
}

std::optional<SavedSearch> load_search(const std::string& dir, const std::string& key) {
  std::optional<std::string> text = exec::read_file(search_path(dir, key, ".json"));
  if (!text) return std::nullopt;
  try {
    Json json = Json::parse(*text);
    if (json.at("version") != kVersion) return std::nullopt;
    SavedSearch state;
    state.next_run = json.at("next_run");
    state.search_state.length = json.at("length");
    state.search_state.pairs = to_pairs(json.at("pairs"));
    for (const Json& entry : json.at("lessons")) state.feedback.push_back(to_feedback(entry));
    state.search_state.seen = json.at("seen").get<std::set<u32>>();
    restore(json.at("guide"), state.search_state.guide);
    restore(json.at("shares"), state.search_state.shares);
    state.failures = json.at("failures").get<std::vector<std::string>>();
    if (json.contains("coverage")) state.coverage = report::coverage_of(json.at("coverage"));
    return state;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string save_search(const std::string& dir, const std::string& key, const SavedSearch& state) {
  std::string error = exec::make_folder(dir + "/searches", dir);
  if (!error.empty()) return error;
  Json json;
  json["version"] = kVersion;
  json["next_run"] = state.next_run;
  json["length"] = state.search_state.length;
  json["pairs"] = to_json(state.search_state.pairs);
  json["lessons"] = Json::array();
  for (const RunFeedback& run : state.feedback) json["lessons"].push_back(to_json(run));
  json["seen"] = state.search_state.seen;
  json["guide"] = to_json(state.search_state.guide);
  json["shares"] = to_json(state.search_state.shares);
  json["failures"] = state.failures;
  if (state.coverage) json["coverage"] = report::json_of(*state.coverage);
  return exec::write_file(search_path(dir, key, ".json"),
                          json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void forget_search(const std::string& dir, const std::string& key) {
  unlink(search_path(dir, key, ".json").c_str());
}

}  // namespace duress::search
