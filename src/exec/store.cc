// SPDX-License-Identifier: Apache-2.0
//
// JSON files, one per thing, each replaced as a whole: they can be read, copied into a bug report, and
// removed by hand. They may also have been edited or truncated: an invalid file counts as missing.
#include "exec/store.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "exec/files.h"
#include "exec/ownership.h"
#include "exec/token_text.h"

namespace duress::exec {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Identities hold control characters as separators; as hex digits of their hash they are plain text.
std::string identity_text(const std::string& identity) {
  return finding::failure_id(identity, 16);
}

/// The members of a file, for reading and writing: visit(name, member, whether it must be there).
template <typename Finding, typename Visit>
void each_member(Finding& finding, Visit visit) {
  visit("id", finding.id, true);
  visit("failure", finding.failure, true);
  visit("text", finding.text, true);
  visit("identity", finding.failure_id, true);
  visit("file", finding.file, true);
  visit("line", finding.line, true);
  visit("column", finding.column, true);
  visit("target", finding.target, true);
  visit("folder", finding.folder, true);
  visit("environment", finding.environment, false);
  visit("input", finding.input, true);
  visit("token", finding.token, true);
  visit("strategy", finding.strategy, true);
  visit("seed", finding.seed, true);
  visit("run", finding.run, true);
  visit("switches", finding.switches, true);
  visit("expect_exit", finding.oracle.expect_exit, true);
  visit("check", finding.oracle.check, true);
  visit("expected_output", finding.oracle.expected_output, true);
  visit("wrong_output", finding.oracle.wrong_output, false);
}

Json to_json(StoredFinding finding) {
  // A finding that was loaded has only the hash.
  if (!finding.identity.empty() || finding.failure_id.empty())
    finding.failure_id = identity_text(finding.identity);
  Json json;
  json["version"] = kVersion;
  each_member(finding, [&](const char* name, const auto& member, bool) { json[name] = member; });
  return json;
}

}  // namespace

bool is_failure_id(const std::string& text) {
  return text.size() >= 6 && text.size() <= 18 && (text.rfind("F-", 0) == 0 || text.rfind("R-", 0) == 0) &&
         text.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

std::string Store::free_id(const std::string& identity) const {
  for (int digits : {4, 8}) {
    std::string id = finding::failure_id(identity, digits);
    std::optional<std::string> text = read_file(finding_path(id));
    if (!text) return id;
    Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object() || json.value("identity", Json()) == identity_text(identity)) return id;
  }
  return finding::failure_id(identity, 16);
}

std::string Store::save(StoredFinding& finding) {
  std::string error = make_folder(dir_ + "/findings", dir_);
  if (!error.empty()) return error;
  if (finding.token.size() > kMostTokenCharacters && finding.token[0] != '@') {
    error = make_folder(dir_ + "/trails", dir_);
    std::string path = dir_ + "/trails/" + finding.id + ".trail";
    if (error.empty()) error = write_file(path, trail_file_text(finding.id, finding.token));
    if (!error.empty()) return error;
    finding.token = "@" + path;
  }
  if (!finding.input.empty()) {
    std::string copy = dir_ + "/findings/" + finding.id + ".stdin";
    std::optional<std::string> text = read_file(finding.input);
    if (!text) return "cannot read '" + finding.input + "'";
    if (copy != finding.input) error = write_file(copy, *text);
    if (!error.empty()) return error;
    finding.input = copy;
  }
  return write_file(finding_path(finding.id), dump(to_json(finding)));
}

std::optional<StoredFinding> Store::load(const std::string& id, std::string& error) const {
  error = owner_problem(dir_);
  if (error.empty()) error = owner_problem(finding_path(id));
  if (!error.empty()) return std::nullopt;
  std::optional<std::string> text = read_file(finding_path(id));
  if (!text) {
    error = "no recording of " + id + " in '" + dir_ +
            "' (ids from 'duress run' have none; use 'duress classify'), or pass --dir";
    return std::nullopt;
  }
  try {
    Json json = Json::parse(*text);
    if (json.at("version") != kVersion) {
      error = "'" + finding_path(id) + "' was written by another version of duress; search again";
      return std::nullopt;
    }
    StoredFinding finding;
    each_member(finding, [&](const char* name, auto& member, bool needed) {
      if (needed || json.contains(name)) json.at(name).get_to(member);
    });
    if (!finding.target.empty() && finding.id == id) return finding;
  } catch (const Json::exception&) {
  }
  error = "'" + finding_path(id) + "' is damaged; search again";
  return std::nullopt;
}

}  // namespace duress::exec
