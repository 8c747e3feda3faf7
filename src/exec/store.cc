// SPDX-License-Identifier: Apache-2.0
//
// JSON files, one per thing, each replaced as a whole: they can be read, copied into a bug report, and
// removed by hand. They may also have been edited or truncated: an invalid file counts as missing.
#include "exec/store.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "exec/files.h"
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

Json to_json(const StoredFinding& finding) {
  Json json;
  json["version"] = kVersion;
  json["id"] = finding.id;
  json["failure"] = finding.failure;
  json["text"] = finding.text;
  // A finding that was loaded has only the hash.
  json["identity"] = finding.identity.empty() && !finding.failure_id.empty()
                         ? finding.failure_id
                         : identity_text(finding.identity);
  json["file"] = finding.file;
  json["line"] = finding.line;
  json["column"] = finding.column;
  json["target"] = finding.target;
  json["folder"] = finding.folder;
  if (!finding.environment.empty()) json["environment"] = finding.environment;
  json["input"] = finding.input;
  json["token"] = finding.token;
  json["strategy"] = finding.strategy;
  json["seed"] = finding.seed;
  json["run"] = finding.run;
  json["switches"] = finding.switches;
  json["expect_exit"] = finding.oracle.expect_exit;
  json["check"] = finding.oracle.check;
  json["expected_output"] = finding.oracle.expected_output;
  if (finding.oracle.wrong_output != 0) json["wrong_output"] = finding.oracle.wrong_output;
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
    finding.id = json.at("id");
    finding.failure = json.at("failure");
    finding.text = json.at("text");
    finding.file = json.at("file");
    finding.line = json.at("line");
    finding.column = json.at("column");
    finding.target = json.at("target").get<std::vector<std::string>>();
    finding.folder = json.at("folder");
    finding.environment = json.value("environment", std::vector<std::string>());
    finding.input = json.at("input");
    finding.token = json.at("token");
    finding.strategy = json.at("strategy");
    finding.seed = json.at("seed");
    finding.run = json.at("run");
    finding.switches = json.at("switches");
    finding.oracle.expect_exit = json.at("expect_exit");
    finding.oracle.check = json.at("check");
    finding.oracle.expected_output = json.at("expected_output");
    finding.oracle.wrong_output = json.value("wrong_output", u64{0});
    finding.failure_id = json.at("identity");
    if (!finding.target.empty() && finding.id == id) return finding;
  } catch (const Json::exception&) {
  }
  error = "'" + finding_path(id) + "' is damaged; search again";
  return std::nullopt;
}

}  // namespace duress::exec
