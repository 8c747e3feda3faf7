// SPDX-License-Identifier: Apache-2.0
#include "search/kept_coverage.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"
#include "exec/files.h"
#include "report/coverage_json.h"

namespace duress::search {
namespace {

using Json = nlohmann::ordered_json;

std::string path_of(const std::string& dir, const std::string& program) {
  char name[20];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash_of(program)));
  return dir + "/coverage/" + name + ".json";
}

/// Nothing: there was none, or the file is damaged.
std::optional<report::Coverage> load(const std::string& path) {
  std::optional<std::string> text = exec::read_file(path);
  if (!text) return std::nullopt;
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? report::coverage_of(json) : std::nullopt;
}

}  // namespace

std::string compare_with_last(const std::string& dir, const std::string& program,
                              report::Coverage& coverage) {
  const std::string path = path_of(dir, program);
  if (std::optional<report::Coverage> last = load(path)) report::compare(coverage, *last);
  if (std::string error = exec::make_folder(dir + "/coverage", dir); !error.empty()) return error;
  return exec::write_file(
      path, report::json_of(coverage).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace duress::search
