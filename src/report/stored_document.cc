// SPDX-License-Identifier: Apache-2.0
#include "report/stored_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "finding/verdict.h"
#include "report/formats.h"
#include "report/lanes_json.h"
#include "report/path.h"

namespace duress::report {
namespace {

const Json kEmptyObject = Json::object(), kEmptyList = Json::array();

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

}  // namespace

std::string text_at(const Json& json, const char* key) {
  auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::uint64_t number_at(const Json& json, const char* key) {
  auto it = json.is_object() ? json.find(key) : json.end();
  if (it == json.end() || !it->is_number()) return 0;
  if (it->is_number_unsigned()) return it->get<std::uint64_t>();
  double value = it->get<double>();
  return value > 0 && value < 1e18 ? static_cast<std::uint64_t>(value) : 0;
}

const Json& object_at(const Json& json, const char* key) {
  auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_object() ? *it : kEmptyObject;
}

const Json& list_at(const Json& json, const char* key) {
  auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_array() ? *it : kEmptyList;
}

const finding::Lanes* StoredDocument::lanes_for(const std::string& id) const {
  auto it = lanes_of.find(id);
  return it == lanes_of.end() ? nullptr : &lanes[it->second];
}

std::optional<StoredDocument> read_document(const std::string& text, std::string& error) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (text_at(json, "schema") == "duress/1") return stored_document(std::move(json));
  error = "not a document that --json wrote";
  return std::nullopt;
}

StoredDocument stored_document(Json json) {
  StoredDocument document;
  document.json = std::move(json);
  document.folder = text_at(document.json, "folder");
  for (const char* list : {"races", "failures"}) {
    if (!document.json[list].is_array()) document.json[list] = Json::array();
    std::erase_if(document.json[list].get_ref<Json::array_t&>(),
                  [](const Json& one) { return !one.is_object() || text_at(one, "id").empty(); });
    for (Json& finding : document.json[list]) {
      auto lanes = finding.find("lanes");
      if (lanes == finding.end()) continue;
      std::string id = text_at(finding, "id");
      if (lanes->is_object()) {
        document.lanes_of[id] = document.lanes.size();
        document.lanes.push_back(read_lanes(*lanes));
      } else if (lanes->is_string() && document.lanes_of.count(lanes->get<std::string>()) != 0) {
        document.lanes_of[id] = document.lanes_of[lanes->get<std::string>()];
      }
      finding.erase("lanes");
    }
  }
  return document;
}

std::string to_json(const StoredDocument& document) {
  Json json = document.json;
  std::map<std::size_t, std::string> written;
  for (const char* list : {"races", "failures"}) {
    for (Json& finding : json[list]) {
      std::string id = text_at(finding, "id");
      auto known = document.lanes_of.find(id);
      if (known == document.lanes_of.end()) continue;
      auto [it, fresh] = written.try_emplace(known->second, id);
      finding["lanes"] = fresh ? lanes_json(document.lanes[known->second]) : Json(it->second);
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

const char* rule_of(const Json& race) {
  if (is_destructive(race)) return "race/destructive";
  auto confirmed = race.find("confirmed");
  bool shown = confirmed != race.end() && confirmed->is_boolean() && confirmed->get<bool>();
  // An execution that shows it confirms it too.
  return shown || !text_at(race, "replay").empty() ? "race/confirmed" : "race/unconfirmed";
}

std::size_t headline_of(const Json& race) {
  const Json& sites = list_at(race, "sites");
  auto writes = [&](std::size_t i) {
    return i < sites.size() && text_at(sites[i], "access").find("read") == std::string::npos;
  };
  return !writes(0) && writes(1) ? 1 : 0;
}

std::vector<std::vector<const Json*>> races_of(const StoredDocument& document) {
  std::vector<std::vector<const Json*>> races;
  std::map<std::string, std::size_t> known;
  for (const Json& pair : list_at(document.json, "races")) {
    auto [it, fresh] = known.try_emplace(text_at(pair, "variable"), races.size());
    if (fresh) races.emplace_back();
    std::vector<const Json*>& pairs = races[it->second];
    bool worse = !fresh && is_destructive(pair) && !is_destructive(*pairs[0]);
    pairs.insert(worse ? pairs.begin() : pairs.end(), &pair);
  }
  return races;
}

bool is_destructive(const Json& race) {
  return text_at(race, "verdict") == finding::name_of(finding::VerdictKind::kDestructive);
}

std::string title_of(const Json& finding) {
  for (const char* key : {"title", "text", "failure"}) {
    if (std::string text = text_at(finding, key); !text.empty()) return text;
  }
  return "data race on " + text_at(finding, "variable");
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> lines;
  for (const Json& line : list_at(json, key)) {
    if (line.is_string()) lines.push_back(line.get<std::string>());
  }
  return lines;
}

std::vector<std::string> story_of(const std::vector<const Json*>& pairs) {
  std::vector<std::string> lines;
  auto take = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const Json* pair : pairs) {
    if (pair != pairs[0]) lines.push_back("another pair of accesses:");
    take(texts_at(*pair, "accesses"));
    // What is known of the variable is in each of its pairs; what verify counts is each pair's own.
    if (pair == pairs[0] || text_at(*pair, "verdict").empty()) take(texts_at(*pair, "account"));
  }
  if (std::string fix = text_at(object_at(*pairs[0], "fix"), "text"); !fix.empty())
    lines.push_back("fix: " + fix);
  return lines;
}

std::vector<MemoryStack> memory_stacks(const Json& failure) {
  const Json& memory = object_at(failure, "memory");
  const Json &access = object_at(memory, "access"), &freed = object_at(memory, "freed");
  const Json& block = object_at(memory, "block");
  const std::string kind = text_at(failure, "failure");
  const char* ended = kind == "double-init"         ? "initialised before"
                      : kind == "use-after-destroy" ? "destroyed"
                                                    : "freed";
  std::vector<MemoryStack> stacks = {
      {fmt::format("T{} {}", number_at(access, "thread"), text_at(failure, "text")),
       list_at(access, "stack")},
      {fmt::format("{} by T{}", ended, number_at(freed, "thread")), list_at(freed, "stack")},
      {fmt::format("allocated by T{}", number_at(block, "thread")), list_at(block, "stack")}};
  std::vector<MemoryStack> known;
  for (const MemoryStack& one : stacks) {
    if (!one.frames.empty()) known.push_back(one);
  }
  return known;
}

std::string token_of(const Json& finding) {
  std::string token = text_at(object_at(finding, "evidence"), "replay");
  return token.empty() ? text_at(finding, "replay") : token;
}

std::string shell_word(const std::string& text) {
  bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("-_./=+,:@%").find(c) != std::string::npos;
  });
  if (plain) return text;
  bool control = std::any_of(text.begin(), text.end(), is_control);
  std::string quoted = control ? "$'" : "'";
  for (char c : text) {
    if (control && is_control(c)) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (control && (c == '\'' || c == '\\')) {
      quoted += std::string("\\") + c;
    } else {
      quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
  }
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string replay_line(const StoredDocument& document, const Json& finding) {
  // A race of `verify` has an execution that shows it, but nothing that fails: only its token is known.
  bool stored = text_at(finding, "replay").empty() || text_at(finding, "id").rfind("F-", 0) == 0;
  if (token_of(finding).empty()) return {};
  if (!stored) return replay_token_line(document, finding);
  return "duress replay " + shell_word(text_at(finding, "id")) + document.replay_options;
}

std::string replay_token_line(const StoredDocument& document, const Json& finding) {
  std::string token = token_of(finding);
  if (token.empty() || token[0] == '@') return {};
  std::string line = "duress replay " + shell_word(token) + " --";
  for (const Json& word : list_at(document.json, "target"))
    line += " " + shell_word(word.is_string() ? word.get<std::string>() : "");
  return line;
}

DURESS_DEFINE_FORMAT(Json, to_json, true);

}  // namespace duress::report
