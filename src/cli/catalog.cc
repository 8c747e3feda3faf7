// SPDX-License-Identifier: Apache-2.0
//
// Only what works today is listed: a name that is accepted and then does nothing is worse than an error. The
// analyses come from the runtime's own table, so that a new detector is one line there.
#include "cli/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "event/analyses.h"
#include "event/memory_models.h"
#include "event/strategies.h"
#include "exec/plan.h"

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
#define DURESS_NAMED(identifier, name, summary) {name, summary},
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

std::string check_model(const std::string& model, const std::string& heuristic, ModelId& number,
                        std::optional<HeuristicId>& chosen) {
  const std::vector<std::string> known = {"sc", "rc11"};
  if (std::find(known.begin(), known.end(), model) == known.end()) {
    if (exec::model_from_name(model.c_str(), number))
      return fmt::format("the model {} is for races, see duress classify; here it is sc or rc11", model);
    return fmt::format("no memory model is named '{}'{} (known here: sc, rc11)", model,
                       nearest_hint(model, known));
  }
  exec::model_from_name(model.c_str(), number);
  if (heuristic.empty()) return {};
  HeuristicId found{};
  if (!exec::heuristic_from_name(heuristic.c_str(), found)) {
    std::vector<std::string> names;
    for (const Named& entry : heuristics()) names.emplace_back(entry.name);
    return fmt::format("no heuristic is named '{}'{} (known: {})", heuristic, nearest_hint(heuristic, names),
                       fmt::join(names, ", "));
  }
  if (number == ModelId::kSc)
    return "--heuristic chooses among the values of a memory model: give --model rc11 too";
  chosen = found;
  return {};
}

namespace {

/// chain: step { ':' step }; step: name | '[' chain { ',' chain } ']'. As in src/analysis/chain.cc.
class ChainCheck {
 public:
  explicit ChainCheck(const std::string& text) : text_(text) {
    for (const Named& analysis : analyses()) known_.emplace_back(analysis.name);
  }

  std::string run() {
    std::string error = chain(0);
    if (error.empty() && at_ < text_.size())
      error = fmt::format("the chain '{}' has a '{}' too many at {}", text_, text_[at_], at_ + 1);
    return error;
  }

 private:
  std::string chain(int depth) {
    for (int steps = 1;; ++steps) {
      if (steps > 16) return fmt::format("the chain '{}' is longer than 16 steps at {}", text_, at_ + 1);
      std::string error = step(depth);
      if (!error.empty() || at_ >= text_.size() || text_[at_] != ':') return error;
      ++at_;
    }
  }

  std::string step(int depth) {
    if (at_ < text_.size() && text_[at_] == '[') {
      if (depth == 8) return fmt::format("the chain '{}' has too many brackets at {}", text_, at_ + 1);
      int branches = 0;
      do {
        if (++branches > 16) return fmt::format("the chain '{}' has too many branches at {}", text_, at_ + 1);
        ++at_;
        if (std::string error = chain(depth + 1); !error.empty()) return error;
      } while (at_ < text_.size() && text_[at_] == ',');
      if (at_ >= text_.size() || text_[at_] != ']')
        return fmt::format("the chain '{}' lacks a ']' at {}", text_, at_ + 1);
      ++at_;
      return {};
    }
    std::size_t end = std::min(text_.find_first_of(":[],", at_), text_.size());
    std::string name = text_.substr(at_, end - at_);
    if (name.empty()) return fmt::format("the chain '{}' has an empty name at {}", text_, at_ + 1);
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      return fmt::format("no analysis is named '{}'{} (known: {})", name, nearest_hint(name, known_),
                         fmt::join(known_, ", "));
    }
    at_ = end;
    return {};
  }

  const std::string& text_;
  std::vector<std::string> known_;
  std::size_t at_ = 0;
};

}  // namespace

std::string check_chain(const std::string& chain) {
  return ChainCheck(chain).run();
}

std::vector<std::string> heuristic_names() {
  std::vector<std::string> names;
  for (const Named& heuristic : heuristics()) names.push_back(heuristic.name);
  return names;
}

}  // namespace duress::cli
