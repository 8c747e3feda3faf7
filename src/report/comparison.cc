// SPDX-License-Identifier: Apache-2.0
//
// Only what says something about the program is a change: lines move with every edit, and how often a race
// does harm differs from campaign to campaign.
#include "report/comparison.h"

#include <fmt/format.h>

#include <map>

#include "report/words.h"

namespace duress::report {
namespace {

/// A finding and how many pairs of accesses it has.
struct Entry {
  const Json* finding = nullptr;
  std::size_t pairs = 0;
};
struct Entries {
  std::vector<std::pair<std::string, Entry>> list;  // by id, in the order of the document
  std::map<std::string, std::size_t> places;
};

Entries entries_of(const StoredDocument& document) {
  Entries entries;
  for (const char* list : {"races", "failures"}) {
    for (const Json& finding : list_at(document.json, list)) {
      std::string id = text_at(finding, "id");
      auto [it, fresh] = entries.places.try_emplace(id, entries.list.size());
      if (fresh) entries.list.push_back({id, {&finding, 0}});
      Entry& entry = entries.list[it->second].second;
      ++entry.pairs;
      if (is_destructive(finding) && !is_destructive(*entry.finding)) entry.finding = &finding;
    }
  }
  return entries;
}

/// Ids are cut to as many digits as their document needs: one may be the beginning of the other.
const Entry* same_of(const Entries& entries, const std::string& id) {
  if (auto exact = entries.places.find(id); exact != entries.places.end())
    return &entries.list[exact->second].second;
  for (const auto& [known, entry] : entries.list) {
    if (known.rfind(id, 0) == 0 || id.rfind(known, 0) == 0) return &entry;
  }
  return nullptr;
}

std::string verdict_of(const Json& finding) {
  std::string verdict = text_at(finding, "verdict");
  return verdict.empty() ? "not judged" : verdict;
}

std::string confirmed_of(const Json& finding) {
  auto it = finding.find("confirmed");
  if (it == finding.end() || !it->is_boolean()) return "";
  return it->get<bool>() ? "yes" : "no";
}

std::vector<Change> changes_of(const Entry& before, const Entry& now) {
  std::vector<Change> changes;
  auto add = [&](const char* what, const std::string& old_text, const std::string& new_text) {
    if (old_text != new_text) changes.push_back({what, old_text, new_text});
  };
  const Json &old_finding = *before.finding, &new_finding = *now.finding;
  if (!list_at(new_finding, "sites").empty()) {
    add("verdict", verdict_of(old_finding), verdict_of(new_finding));
    std::string old_confirmed = confirmed_of(old_finding), new_confirmed = confirmed_of(new_finding);
    // Commands that do not try to bring accesses together say nothing about it.
    if (!old_confirmed.empty() && !new_confirmed.empty()) add("confirmed", old_confirmed, new_confirmed);
    std::string old_failure = text_at(object_at(old_finding, "evidence"), "text");
    std::string new_failure = text_at(object_at(new_finding, "evidence"), "text");
    if (!old_failure.empty() && !new_failure.empty()) add("failure", old_failure, new_failure);
    add("pairs of accesses", std::to_string(before.pairs), std::to_string(now.pairs));
  } else {
    add("failure", title_of(old_finding), title_of(new_finding));
  }
  return changes;
}

std::string campaign_of(const StoredDocument& document) {
  std::string text = "duress " + text_at(document.json, "command");
  for (const Json& word : list_at(document.json, "target"))
    text += " " + shell_word(word.is_string() ? word.get<std::string>() : "");
  return text;
}

std::vector<std::string> notes_of(const StoredDocument& before, const StoredDocument& now) {
  std::vector<std::string> notes;
  auto differ = [&](const std::string& what, const std::string& old_text, const std::string& new_text) {
    if (old_text != new_text) notes.push_back(fmt::format("{}: {} before, {} now", what, old_text, new_text));
  };
  differ("command", campaign_of(before), campaign_of(now));
  differ("runs", std::to_string(number_at(before.json, "runs")), std::to_string(number_at(now.json, "runs")));
  return notes;
}

Json campaign_json(const StoredDocument& document, const std::string& name) {
  Json json;
  json["file"] = name;
  for (const char* key : {"command", "target", "version", "seed", "runs"}) {
    if (auto it = document.json.find(key); it != document.json.end()) json[key] = *it;
  }
  return json;
}

/// Where the report of a finding begins: the write of a race.
const Json& place_of(const Json& finding) {
  const Json& sites = list_at(finding, "sites");
  std::size_t first = headline_of(finding);
  return first < sites.size() ? sites[first] : finding;
}

Json compared_json(const ComparedFinding& compared) {
  const Json &finding = *compared.finding, &place = place_of(finding);
  Json json;
  for (const char* key : {"id", "variable", "verdict", "failure"}) {
    if (std::string text = text_at(finding, key); !text.empty()) json[key] = text;
  }
  json["title"] = title_of(finding);
  if (std::string file = text_at(place, "file"); !file.empty()) {
    json["file"] = file;
    json["line"] = number_at(place, "line");
    json["column"] = number_at(place, "column");
  }
  for (const Change& change : compared.changes)
    json["changes"].push_back({{"what", change.what}, {"before", change.before}, {"now", change.now}});
  return json;
}

}  // namespace

Comparison compare(const StoredDocument& before, const StoredDocument& now) {
  Comparison comparison;
  Entries old_entries = entries_of(before), new_entries = entries_of(now);
  for (const auto& [id, entry] : new_entries.list) {
    const Entry* known = same_of(old_entries, id);
    if (known == nullptr) {
      comparison.fresh.push_back({entry.finding, {}});
      continue;
    }
    std::vector<Change> changes = changes_of(*known, entry);
    if (changes.empty())
      comparison.unchanged.push_back(entry.finding);
    else
      comparison.changed.push_back({entry.finding, std::move(changes)});
  }
  for (const auto& [id, entry] : old_entries.list) {
    if (same_of(new_entries, id) == nullptr) comparison.gone.push_back({entry.finding, {}});
  }
  comparison.notes = notes_of(before, now);
  return comparison;
}

std::string finding_line(const Json& finding) {
  const Json& place = place_of(finding);
  std::string where;
  if (std::string file = text_at(place, "file"); !file.empty())
    where = fmt::format("{}:{}:{}: ", file, number_at(place, "line"), number_at(place, "column"));
  bool race = !list_at(finding, "sites").empty();
  return fmt::format("{}{}: {} [{}]", where, !race || is_destructive(finding) ? "error" : "warning",
                     title_of(finding), text_at(finding, "id"));
}

std::string comparison_summary(const Comparison& comparison) {
  return fmt::format("{} new, {} changed, {} gone, {} unchanged", comparison.fresh.size(),
                     comparison.changed.size(), comparison.gone.size(), comparison.unchanged.size());
}

std::vector<std::string> comparison_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  auto add = [&](const char* what, const std::vector<ComparedFinding>& findings) {
    for (const ComparedFinding& one : findings) {
      lines.push_back(fmt::format("{}: {}", what, finding_line(*one.finding)));
      for (const Change& change : one.changes)
        lines.push_back(fmt::format("  {}: {} -> {}", change.what, change.before, change.now));
    }
  };
  add("new", comparison.fresh);
  add("changed", comparison.changed);
  add("gone", comparison.gone);
  return lines;
}

Json comparison_json(const Comparison& comparison, const StoredDocument& before,
                     const std::string& before_name, const StoredDocument& now, const std::string& now_name) {
  Json json;
  json["schema"] = "duress-comparison/1";
  json["before"] = campaign_json(before, before_name);
  json["now"] = campaign_json(now, now_name);
  auto add = [&](const char* key, const std::vector<ComparedFinding>& findings) {
    json[key] = Json::array();
    for (const ComparedFinding& one : findings) json[key].push_back(compared_json(one));
  };
  add("new", comparison.fresh);
  add("changed", comparison.changed);
  add("gone", comparison.gone);
  json["unchanged"] = Json::array();
  for (const Json* finding : comparison.unchanged) json["unchanged"].push_back(text_at(*finding, "id"));
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace duress::report
