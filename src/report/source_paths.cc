// SPDX-License-Identifier: Apache-2.0
#include "report/source_paths.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace duress::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;  // a browser's has 60 MB

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

fs::path commands_file(const std::string& cwd) {
  for (fs::path folder = cwd; !folder.empty(); folder = folder.parent_path()) {
    for (const fs::path& place : {folder / "compile_commands.json", folder / "build/compile_commands.json"}) {
      if (is_file(place)) return place;
    }
    if (folder == folder.parent_path()) break;
  }
  return {};
}

Json read_json(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMostBytes || error) return {};
  std::ifstream file(path);
  return Json::parse(file, nullptr, /*allow_exceptions=*/false);
}

std::string text_of(const Json& entry, const char* key) {
  auto value = entry.is_object() ? entry.find(key) : entry.end();
  return entry.is_object() && value != entry.end() && value->is_string() ? value->get<std::string>() : "";
}

/// What two folders have in common.
fs::path common(const fs::path& a, const fs::path& b) {
  fs::path both;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end() && *i == *j; ++i, ++j) both /= *i;
  return both;
}

}  // namespace

SourcePaths::SourcePaths(const std::string& cwd) {
  fs::path file = commands_file(cwd);
  if (file.empty()) return;
  std::set<std::string> folders;
  fs::path all;
  Json commands = read_json(file);
  if (!commands.is_array()) return;
  for (const Json& entry : commands) {
    fs::path folder = text_of(entry, "directory"), source = text_of(entry, "file");
    if (folder.empty() || source.empty()) continue;
    folders.insert(folder.lexically_normal().string());
    fs::path home = (folder / source).lexically_normal().parent_path();
    all = all.empty() ? home : common(all, home);
  }
  if (!all.empty() && all != all.root_path()) folders.insert(all.string());
  roots_.assign(folders.begin(), folders.end());
}

std::string SourcePaths::search(const std::string& path) const {
  fs::path wanted = fs::path(path).lexically_normal();
  std::vector<fs::path> parts;
  for (const fs::path& part : wanted.relative_path()) {
    if (part != "..") parts.push_back(part);
  }
  for (std::size_t first = 0; first < parts.size(); ++first) {
    bool whole = first == 0 && wanted.is_relative();
    if (!whole && parts.size() - first < 2) break;  // a name alone may be any file's
    fs::path end;
    for (std::size_t i = first; i < parts.size(); ++i) end /= parts[i];
    for (const std::string& root : roots_) {
      if (fs::path here = fs::path(root) / end; is_file(here)) return here.lexically_normal().string();
      // The folder of all sources may be named in the path itself.
      fs::path above = fs::path(root).parent_path() / end;
      if (end.begin() != end.end() && *end.begin() == fs::path(root).filename() && is_file(above))
        return above.lexically_normal().string();
    }
  }
  return path;
}

const std::string& SourcePaths::find(const std::string& path) {
  auto [known, fresh] = found_.try_emplace(path, path);
  if (fresh && !roots_.empty() && !path.empty() && !is_file(path)) known->second = search(path);
  return known->second;
}

}  // namespace duress::report
