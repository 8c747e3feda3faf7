// SPDX-License-Identifier: Apache-2.0
#include "catalog/lookup.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "catalog/analyses.h"
#include "catalog/formats.h"
#include "catalog/heuristics.h"
#include "catalog/models.h"
#include "catalog/orders.h"
#include "catalog/strategies.h"

namespace duress::catalog {
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

template <class Id>
std::vector<CatalogEntry> entries() {
  return {std::begin(Catalog<Id>::kEntries), std::end(Catalog<Id>::kEntries)};
}

/// With the two names that stand for no single strategy.
std::vector<CatalogEntry> strategies() {
  std::vector<CatalogEntry> table = {
      {"free", "the operating system's scheduler, threads in parallel (default of duress run)"},
      {"portfolio", "racefuzzer, pct, random and pos in turn (default of duress explore)"}};
  for (const CatalogEntry& entry : Catalog<StrategyId>::kEntries) table.push_back(entry);
  return table;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"analyses", entries<AnalysisId>()},     {"strategies", strategies()},
      {"models", entries<ModelId>()},          {"heuristics", entries<HeuristicId>()},
      {"orders", entries<ExplorationOrder>()}, {"formats", entries<FormatId>()},
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
  return names.empty() ? "" : "; nearest: " + joined(names);
}

std::string unknown_name(const std::string& what, const std::string& wrong,
                         const std::vector<std::string>& known) {
  return "no " + what + " is named '" + wrong + "'" + nearest_hint(wrong, known) +
         " (known: " + joined(known) + ")";
}

std::string check_model(const std::string& model, const std::string& heuristic, ModelId& id,
                        std::optional<HeuristicId>& chosen) {
  std::optional<ModelId> known = id_of<ModelId>(model.c_str());
  if (known && *known != ModelId::kSc && *known != ModelId::kRc11)
    return "--model: " + model + " is for races, see duress classify; here it is sc or rc11";
  if (!known) return "--model: " + unknown_name("memory model", model, {"sc", "rc11"});
  id = *known;
  if (heuristic.empty()) return {};
  std::optional<HeuristicId> found = id_of<HeuristicId>(heuristic.c_str());
  if (!found) return "--heuristic: " + unknown_name("heuristic", heuristic, names<HeuristicId>());
  if (id == ModelId::kSc)
    return "--heuristic chooses among the values of a memory model: give --model rc11 too";
  chosen = *found;
  return {};
}

namespace {

/// chain: step { ':' step }; step: name | '[' chain { ',' chain } ']'. As in src/analysis/chain.cc.
class ChainCheck {
 public:
  explicit ChainCheck(const std::string& text) : text_(text) {}

  std::string run() {
    std::string error = chain(0);
    if (error.empty() && at_ < text_.size())
      error = problem(std::string("has a '") + text_[at_] + "' too many");
    return error;
  }

 private:
  std::string problem(const std::string& what) const {
    return "the chain '" + text_ + "' " + what + " at " + std::to_string(at_ + 1);
  }

  std::string chain(int depth) {
    for (int steps = 1;; ++steps) {
      if (steps > 16) return problem("is longer than 16 steps");
      std::string error = step(depth);
      if (!error.empty() || at_ >= text_.size() || text_[at_] != ':') return error;
      ++at_;
    }
  }

  std::string step(int depth) {
    if (at_ < text_.size() && text_[at_] == '[') {
      if (depth == 8) return problem("has too many brackets");
      int branches = 0;
      do {
        if (++branches > 16) return problem("has too many branches");
        ++at_;
        if (std::string error = chain(depth + 1); !error.empty()) return error;
      } while (at_ < text_.size() && text_[at_] == ',');
      if (at_ >= text_.size() || text_[at_] != ']') return problem("lacks a ']'");
      ++at_;
      return {};
    }
    std::size_t end = std::min(text_.find_first_of(":[],", at_), text_.size());
    std::string name = text_.substr(at_, end - at_);
    if (name.empty()) return problem("has an empty name");
    if (!id_of<AnalysisId>(name.c_str())) return unknown_name("analysis", name, names<AnalysisId>());
    at_ = end;
    return {};
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string check_chain(const std::string& chain) {
  return ChainCheck(chain).run();
}

}  // namespace duress::catalog
