// SPDX-License-Identifier: Apache-2.0
//
// Which execution is the i-th of a search.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/plan.h"

namespace duress::search {

struct SearchOptions {
  std::string strategy = "portfolio";  // or the name of one strategy
  u32 depth = 3;                       // pct
  trail::Points points = trail::Points::kSync;
  trail::Backend backend = trail::Backend::kFiber;
  u64 seed = 1;
  u64 most_steps = 0;
  ModelId model = ModelId::kSc;          // or rc11
  std::optional<HeuristicId> heuristic;  // of rc11; none: all in turn
};

/// What the search knows from earlier runs: which pairs of sites race, and how many choices a run has.
struct SearchState {
  std::vector<trail::SitePair> pairs;  // sorted, each once
  u64 length = 0;

  std::vector<u32> sites() const;  // of all pairs, sorted, each once
};

/// What one run contributes to it.
struct RunFeedback {
  std::vector<trail::SitePair> pairs;
  u64 choices = 0;  // 0: not known, it did not end by itself
};

/// Runs go in rounds, [0, 16), [16, 32), [32, 64), [64, 128), ...: the feedback of a round is used from the
/// next one on. So run i does not depend on which other runs have ended, and results do not depend on the
/// number of workers.
class Portfolio {
 public:
  explicit Portfolio(SearchOptions options) : options_(std::move(options)) {}

  /// The end of the round that run `index` belongs to.
  static u64 round_end(u64 index);
  static u64 round_begin(u64 index);
  /// Whether the run detects races: all of the first round, and the first few of each later one, because
  /// other schedules reach other code.
  static bool detects(u64 index);

  /// Feedback is kept of the first runs of a round only; the rest would cost memory and add little.
  static constexpr u64 kFeedbackRuns = 64;

  exec::Plan plan(u64 index, const SearchState& state) const;
  /// Adds the feedback of a round's runs, in order of their numbers.
  static void learn(const std::vector<RunFeedback>& feedback, SearchState& state);

  const SearchOptions& options() const { return options_; }

 private:
  void choose(u64 index, const SearchState& state, exec::Plan& plan) const;
  static StrategyId detecting(u64 index, exec::Plan& plan);
  static StrategyId in_turn(u64 index, bool pairs, exec::Plan& plan);

  SearchOptions options_;
};

}  // namespace duress::search
