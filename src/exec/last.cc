// SPDX-License-Identifier: Apache-2.0
#include "exec/last.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "exec/files.h"

namespace duress::exec {

using Json = nlohmann::ordered_json;

std::string save_last(const std::string& dir, const std::string& document,
                      const std::map<std::string, std::string>& replays) {
  Json json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "the document of this campaign is not a JSON object";
  std::error_code ignored;
  json["folder"] = std::filesystem::current_path(ignored).string();
  for (Json& race : json["races"]) {
    auto known = replays.find(race.value("id", ""));
    if (known != replays.end()) race["replay"] = known->second;
  }
  std::string absolute = std::filesystem::absolute(dir).lexically_normal().string();
  if (std::string error = make_folder(absolute, absolute); !error.empty()) return error;
  return write_file(absolute + "/last.json", json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<std::string> load_last(const std::string& dir, std::string& error) {
  std::optional<std::string> text = read_file(dir + "/last.json");
  if (!text)
    error = "no campaign is recorded in '" + dir +
            "'; run duress classify, explore, verify or run first, or pass its folder with --dir";
  return text;
}

}  // namespace duress::exec
