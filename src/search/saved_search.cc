// SPDX-License-Identifier: Apache-2.0
#include "search/saved_search.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "exec/files.h"

namespace duress::search {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;

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
    for (const Json& entry : json.at("lessons"))
      state.feedback.push_back({to_pairs(entry.at("pairs")), entry.at("choices").get<u64>()});
    state.failures = json.at("failures").get<std::vector<std::string>>();
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
  for (const RunFeedback& run : state.feedback)
    json["lessons"].push_back({{"pairs", to_json(run.pairs)}, {"choices", run.choices}});
  json["failures"] = state.failures;
  return exec::write_file(search_path(dir, key, ".json"),
                          json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void forget_search(const std::string& dir, const std::string& key) {
  unlink(search_path(dir, key, ".json").c_str());
}

}  // namespace duress::search
