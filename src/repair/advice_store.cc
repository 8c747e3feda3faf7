// SPDX-License-Identifier: Apache-2.0
//
// A fix that was found: shown as a diff, kept under the id of its race for `duress fix`, applied to the
// source.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "exec/files.h"
#include "exec/ownership.h"
#include "repair/advice.h"

namespace duress::repair {
namespace {

using Json = nlohmann::ordered_json;

std::string advice_path(const std::string& dir, const std::string& race) {
  return dir + "/fixes/" + race + ".json";
}

}  // namespace

std::string Advice::diff() const {
  std::string all;
  std::error_code ignored;
  std::filesystem::path here = std::filesystem::current_path(ignored);
  for (FileEdit edit : edits) {
    std::string near = std::filesystem::path(edit.path).lexically_proximate(here).string();
    if (near.rfind("..", 0) != 0) edit.path = near;
    all += unified_diff(edit);
  }
  return all;
}

std::string save_advice(const std::string& dir, const std::string& race, const Advice& advice) {
  if (std::string error = exec::make_folder(dir + "/fixes", dir); !error.empty()) return error;
  Json json = {
      {"kind", advice.kind},           {"text", advice.text},       {"interleavings", advice.interleavings},
      {"schedules", advice.schedules}, {"problem", advice.problem}, {"rebuilt", advice.rebuilt},
      {"target", advice.target},       {"options", advice.options}, {"edits", Json::array()}};
  for (const FileEdit& edit : advice.edits) {
    json["edits"].push_back({{"path", edit.path},
                             {"before", joined_lines(edit.before, edit.ends_in_newline)},
                             {"after", joined_lines(edit.after, edit.ends_in_newline)}});
  }
  return exec::write_file(advice_path(dir, race),
                          json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<Advice> load_advice(const std::string& dir, const std::string& race, std::string& error) {
  error = exec::owner_problem(dir);
  if (error.empty()) error = exec::owner_problem(advice_path(dir, race));
  if (!error.empty()) return std::nullopt;
  std::optional<std::string> text = exec::read_file(advice_path(dir, race));
  if (!text) {
    error =
        "no fix recorded for " + race + " in '" + dir + "'; run duress verify or duress classify --advice";
    return std::nullopt;
  }
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  try {
    Advice advice;
    advice.kind = json.at("kind").get<std::string>();
    advice.text = json.at("text").get<std::string>();
    advice.interleavings = json.at("interleavings").get<u64>();
    advice.schedules = json.value("schedules", u64{0});
    advice.problem = json.value("problem", "");
    advice.rebuilt = json.value("rebuilt", false);
    advice.target = json.value("target", std::vector<std::string>());
    advice.options = json.value("options", std::vector<std::string>());
    for (const Json& one : json.at("edits")) {
      FileEdit edit;
      auto after = one.at("after").get<std::string>();
      edit.path = one.at("path").get<std::string>();
      edit.before = split_lines(one.at("before").get<std::string>());
      edit.after = split_lines(after);
      edit.ends_in_newline = after.empty() || after.back() == '\n';
      advice.edits.push_back(std::move(edit));
    }
    return advice;
  } catch (const Json::exception&) {
    error = advice_path(dir, race) + " is damaged; run duress verify again";
    return std::nullopt;
  }
}

}  // namespace duress::repair
