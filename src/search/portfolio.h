// SPDX-License-Identifier: Apache-2.0
//
// Which execution is the i-th of a search.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/plan.h"
#include "search/guide.h"
#include "search/shares.h"

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

/// What the search knows from earlier runs: which pairs of sites race, how many choices a run has, who was
/// seen to read from whom, and what that says about the next runs.
struct SearchState {
  std::vector<trail::SitePair> pairs;  // sorted, each once; 0: not a place to switch
  u64 length = 0;
  std::set<u32> seen;  // reads-from pairs
  Guide guide;
  Shares shares;

  std::vector<u32> sites() const;                    // of all pairs, sorted, each once
  std::vector<trail::SitePair> known_pairs() const;  // both sides are places to switch
};

/// What one run contributes to it.
struct RunFeedback {
  std::vector<trail::SitePair> pairs;
  u64 choices = 0;  // 0: not known, it did not end by itself
  StrategyId strategy = StrategyId::kRandom;
  std::optional<u32> plan;                 // of the guide, that it followed
  std::optional<Observation> observation;  // if it was observed and ended by itself
};

/// Runs go in rounds, [0, 16), [16, 32), then of 32, from 512 on of an eighth of the runs before them, at
/// most 4096: the feedback of a round is used from the next one on. So run i does not depend on which other
/// runs have ended, and results do not depend on the number of workers.
class Portfolio {
 public:
  /// What a run is to be.
  struct Turn {
    StrategyId strategy = StrategyId::kRandom;
    std::optional<u32> node;  // of guided: its plan
  };

  explicit Portfolio(SearchOptions options) : options_(std::move(options)) {}

  /// The end of the round that run `index` belongs to.
  static u64 round_end(u64 index);
  static u64 round_begin(u64 index);
  /// Whether the run detects races: the first 16, and the first few from each power of two on, because other
  /// schedules reach other code.
  static bool detects(u64 index);

  /// Deals the runs of the round that `index` belongs to.
  std::vector<Turn> deal(u64 index, const SearchState& state) const;
  /// `turn`: its element of what deal() gave.
  exec::Plan plan(u64 index, const Turn& turn, const SearchState& state) const;
  /// Adds the feedback of a round's runs, in order of their numbers.
  static void learn(const std::vector<RunFeedback>& feedback, SearchState& state);

  const SearchOptions& options() const { return options_; }

 private:
  StrategyId detecting(u64 index, exec::Plan& plan) const;
  void direct(u64 turn, const SearchState& state, exec::Plan& plan) const;
  bool checks_memory(u64 index, const Turn& turn, const exec::Plan& plan) const;
  void guide(u32 node, const SearchState& state, exec::Plan& plan) const;

  SearchOptions options_;
};

}  // namespace duress::search
