// SPDX-License-Identifier: Apache-2.0
//
// A line per run, appended: {"run": 17, "log": "..."}, or {"run": 18, "as": 17} if it reported the same. Most
// runs do, so that the file stays small. Process numbers are left out, because they always differ.
#include "search/saved_races.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "exec/files.h"
#include "finding/log_reader.h"
#include "finding/log_writer.h"
#include "search/saved_search.h"

namespace duress::search {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const finding::RunLog& log) {
  std::string text;
  for (finding::ProcessLog process : log.processes) {
    process.pid = process.ppid = 0;
    text += finding::log_text(process);
  }
  return text;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

SavedRaces::SavedRaces(const std::string& dir, const std::string& key)
    : path_(search_path(dir, key, ".races")) {}

std::map<u64, finding::RunLog> SavedRaces::load(u64 next_run) {
  std::map<u64, finding::RunLog> races;
  std::unordered_map<u64, std::string> texts;
  std::string kept;
  std::ifstream in(path_, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("run") || !json["run"].is_number_unsigned()) continue;
    u64 run = json["run"];
    if (run >= next_run || races.count(run) != 0) continue;
    if (json.contains("log") && json["log"].is_string()) {
      texts[run] = json["log"];
      runs_.try_emplace(texts[run], run);
    }
    auto text =
        texts.find(json.contains("as") && json["as"].is_number_unsigned() ? json["as"].get<u64>() : run);
    if (text == texts.end()) continue;
    finding::parse_log(text->second, path_, races[run]);
    kept += line + "\n";
  }
  in.close();
  saved_ = next_run;
  exec::write_file(path_, kept);
  return races;
}

std::string SavedRaces::save(const std::map<u64, finding::RunLog>& races, u64 next_run) {
  std::string lines;
  for (auto it = races.lower_bound(saved_); it != races.end() && it->first < next_run; ++it) {
    if (it->second.processes.empty()) continue;
    std::string text = text_of(it->second);
    auto [known, fresh] = runs_.try_emplace(text, it->first);
    lines += line_of(fresh ? Json{{"run", it->first}, {"log", text}}
                           : Json{{"run", it->first}, {"as", known->second}});
  }
  saved_ = next_run;
  if (lines.empty()) return {};
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  out << lines;
  out.close();
  return out ? "" : "cannot write '" + path_ + "': " + std::strerror(errno);
}

void SavedRaces::forget() {
  unlink(path_.c_str());
}

}  // namespace duress::search
