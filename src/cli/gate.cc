// SPDX-License-Identifier: Apache-2.0
#include "cli/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "exec/files.h"

namespace duress::cli {

std::string Baseline::load(const std::string& path) {
  errno = 0;
  std::optional<std::string> text = exec::read_file(path);
  if (!text) return fmt::format("cannot read '{}': {}", path, std::strerror(errno != 0 ? errno : EIO));
  std::string wrong = fmt::format("'{}' is not a document that --json wrote", path);
  try {
    nlohmann::json json = nlohmann::json::parse(*text);
    if (json.at("schema") != "duress/1") return wrong;
    for (const nlohmann::json& race : json.at("races"))
      verdicts_[race.at("id").get<std::string>()] = race.value("verdict", "");
    if (json.contains("failures")) {
      for (const nlohmann::json& failure : json.at("failures"))
        verdicts_[failure.at("id").get<std::string>()] = "destructive";
    }
  } catch (const nlohmann::json::exception&) {
    return wrong;
  }
  return {};
}

const std::string* Baseline::find(const std::string& id) const {
  if (auto exact = verdicts_.find(id); exact != verdicts_.end()) return &exact->second;
  for (const auto& [known, verdict] : verdicts_) {
    if (known.rfind(id, 0) == 0 || id.rfind(known, 0) == 0) return &verdict;
  }
  return nullptr;
}

bool Baseline::knows_as_destructive(const std::string& id) const {
  const std::string* verdict = find(id);
  return verdict != nullptr && (verdict->empty() || *verdict == "destructive");
}

const std::vector<std::string>& fail_on_names() {
  static const std::vector<std::string> names{"destructive", "new-destructive", "race", "never"};
  return names;
}

bool fails(const std::string& fail_on, const Baseline& baseline, const Gated& finding) {
  if (fail_on == "never") return false;
  if (fail_on == "new-destructive") return finding.destructive && !baseline.knows_as_destructive(finding.id);
  if (baseline.knows(finding.id)) return false;
  return fail_on == "race" || finding.destructive;
}

bool fails(const std::string& fail_on, const Baseline& baseline, const report::Document& document,
           bool races_count) {
  std::vector<Gated> findings;
  for (const report::RaceEntry& race : document.races) {
    if (races_count) findings.push_back({race.id, race.judgement && race.judgement->destructive()});
  }
  for (const report::FailureEntry& entry : document.failures.value_or(std::vector<report::FailureEntry>()))
    findings.push_back({entry.failure.id, true});
  for (const std::string& id : document.found_before) findings.push_back({id, true});
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Gated& finding) { return fails(fail_on, baseline, finding); });
}

void mark_known(report::Document& document, const Baseline& baseline) {
  for (report::RaceEntry& race : document.races) race.baseline = baseline.knows(race.id);
  if (!document.failures) return;
  for (report::FailureEntry& entry : *document.failures) entry.baseline = baseline.knows(entry.failure.id);
}

}  // namespace duress::cli
