// SPDX-License-Identifier: Apache-2.0
//
// Only what works today is listed: a name that is accepted and then does nothing is worse than an error. The
// analyses come from the runtime's own table, so that a new detector is one line there.
#include "cli/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "campaign/plan.h"
#include "event/analyses.h"
#include "event/memory_models.h"
#include "event/strategies.h"

namespace duress::cli {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

const std::vector<Named>& strategies() {
#define DURESS_STRATEGY(identifier, name, description) {name, description},
  static const std::vector<Named> table = {
      {"free", "the operating system's scheduler, threads in parallel (default of duress run)"},
      {"portfolio", "racefuzzer, pct, random and pos in turn (default of duress explore)"},
      DURESS_STRATEGIES(DURESS_STRATEGY)};
#undef DURESS_STRATEGY
  return table;
}

}  // namespace

const std::vector<Named>& analyses() {
#define DURESS_NAMED(name, summary) {#name, summary},
  static const std::vector<Named> table = {DURESS_ANALYSES(DURESS_NAMED)};
#undef DURESS_NAMED
  return table;
}

static std::vector<Named> models() {
#define DURESS_NAMED(identifier, name, summary) {name, summary},
  return {DURESS_MODELS(DURESS_NAMED)};
}

static std::vector<Named> heuristics() {
  return {DURESS_HEURISTICS(DURESS_NAMED)};
#undef DURESS_NAMED
}

const std::vector<Catalog>& catalogs() {
  static const std::vector<Catalog> table = {
      {"analyses", analyses(), ""},
      {"strategies", strategies(), ""},
      {"models", models(), ""},
      {"heuristics", heuristics(), ""},
  };
  return table;
}

std::vector<std::string> nearest(const std::string& wrong, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  const std::string low = lower(wrong);
  for (const std::string& name : known) {
    std::size_t distance = edit_distance(low, lower(name));
    bool prefix = low.size() >= 2 && lower(name).rfind(low, 0) == 0;
    if (prefix || distance <= std::max<std::size_t>(1, std::min(low.size(), name.size()) / 2)) {
      scored.emplace_back(prefix ? 0 : distance, name);
    }
  }
  std::sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a < b; });
  std::vector<std::string> names;
  for (const auto& [distance, name] : scored) {
    if (names.size() < 3) names.push_back(name);
  }
  return names;
}

std::string nearest_hint(const std::string& wrong, const std::vector<std::string>& known) {
  std::vector<std::string> names = nearest(wrong, known);
  return names.empty() ? "" : fmt::format("; nearest: {}", fmt::join(names, ", "));
}

std::string check_model(const std::string& model, const std::string& heuristic, u32& number,
                        std::optional<u32>& chosen) {
  const std::vector<std::string> known = {"sc", "rc11"};
  if (std::find(known.begin(), known.end(), model) == known.end()) {
    if (campaign::model_from_name(model.c_str(), number))
      return fmt::format("the model {} is for races, see duress classify; here it is sc or rc11", model);
    return fmt::format("no memory model is named '{}'{} (known here: sc, rc11)", model,
                       nearest_hint(model, known));
  }
  campaign::model_from_name(model.c_str(), number);
  if (heuristic.empty()) return {};
  u32 found = 0;
  if (!campaign::heuristic_from_name(heuristic.c_str(), found)) {
    std::vector<std::string> names;
    for (const Named& entry : heuristics()) names.emplace_back(entry.name);
    return fmt::format("no heuristic is named '{}'{} (known: {})", heuristic, nearest_hint(heuristic, names),
                       fmt::join(names, ", "));
  }
  if (number == 0) return "--heuristic chooses among the values of a memory model: give --model rc11 too";
  chosen = found;
  return {};
}

std::string check_chain(const std::string& chain) {
  std::vector<std::string> known;
  for (const Named& analysis : analyses()) known.emplace_back(analysis.name);
  for (std::size_t start = 0; start <= chain.size();) {
    std::size_t end = std::min(chain.find(':', start), chain.size());
    std::string name = chain.substr(start, end - start);
    if (name.empty()) return fmt::format("the chain '{}' has an empty name", chain);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return fmt::format("no analysis is named '{}'{} (known: {})", name, nearest_hint(name, known),
                         fmt::join(known, ", "));
    }
    start = end + 1;
  }
  return {};
}

std::vector<std::string> heuristic_names() {
  std::vector<std::string> names;
  for (const Named& heuristic : heuristics()) names.push_back(heuristic.name);
  return names;
}

}  // namespace duress::cli
