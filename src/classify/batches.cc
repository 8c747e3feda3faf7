// SPDX-License-Identifier: Apache-2.0
//
// The batches of trials of which a classification consists.
#include <algorithm>

#include "classify/classify.h"
#include "classify/witness.h"

namespace duress::classify {
namespace {

constexpr u64 kConfirmSlice = 4;           // the same for racefuzzer
constexpr u64 kLeastExtraSchedules = 100;  // schedules that are tried for other outputs

u64 most_steps_of(const TrialList& sc) {
  u64 longest = 0;
  for (const std::optional<Trial>& trial : sc) {
    if (trial && trial->passed()) longest = std::max(longest, trial->steps);
  }
  return longest;
}

}  // namespace

bool all_there(const TrialList& list, u64 count) {
  return list.size() >= count && std::all_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                                             [](const auto& t) { return t.has_value(); });
}

void Classifier::confirm() {
  Attack racefuzzer;
  racefuzzer.strategy = StrategyId::kRacefuzzer;
  for (u64 begin = 0; begin < setup_.confirm_runs; begin += kConfirmSlice) {
    Variables apart;
    for (auto& [name, variable] : variables()) {
      if (variable.confirmed_pairs.size() < variable.pairs.size()) apart.push_back(&variable);
    }
    if (apart.empty()) return;
    std::vector<Trial> results(apart.size() * kConfirmSlice);
    bool done = batch("bringing accesses together", results.size(), [&](u64 i, exec::Worker& worker) {
      std::optional<Profile> none;
      std::optional<Trial> trial =
          trials_.run(*pool_, worker, *apart[i / kConfirmSlice], racefuzzer, begin + i % kConfirmSlice, none);
      if (trial) results[i] = std::move(*trial);
      return trial.has_value();
    });
    if (!done) return;
    for (Variable* variable : apart) variable->confirm_runs = begin + kConfirmSlice;
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (const trail::SitePair& pair : results[i].created)
        apart[i / kConfirmSlice]->confirmed_pairs.insert(std::minmax(pair.first, pair.second));
    }
  }
}

void Classifier::run_baseline(const Variables& wanted, u64 begin, u64 end) {
  for (Variable* variable : wanted) variable->sc.resize(end);
  u64 each = end - begin;
  batch("sequentially consistent memory", wanted.size() * each, [&](u64 i, exec::Worker& worker) {
    Variable& variable = *wanted[i / each];
    std::optional<Profile> none;
    std::optional<Trial>& trial = variable.sc[begin + i % each];
    trial = trials_.run(*pool_, worker, variable, baseline(), begin + i % each, none);
    return trial.has_value();
  });
  // Fixed from then on: a trial must not depend on how far the baseline has come.
  for (Variable* variable : wanted) {
    if (begin != 0 || !all_there(variable->sc, end)) continue;
    variable->usual_steps = most_steps_of(variable->sc);
    variable->most_steps =
        variable->usual_steps * 20 + 20000;  // far more than sequentially consistent memory took
  }
}

void Classifier::run_attacks(const Variables& wanted, u64 begin, u64 end) {
  std::vector<Piece> pieces;
  auto add = [&](Variable* variable, u64 number) {
    for (std::size_t a = 0; a < variable->by.size();) {
      auto& [attack, list] = variable->by[a];
      std::size_t last = a + 1;
      while (attack.predicts() && last < variable->by.size() && variable->by[last].first.predicts()) ++last;
      if (number < attack.most_trials) pieces.push_back({variable, a, last, number});
      a = last;
    }
  };
  Variables ready;
  for (Variable* variable : wanted) {
    if (!all_there(variable->sc, end)) continue;
    ready.push_back(variable);
    for (auto& [attack, list] : variable->by) list.resize(std::min(end, attack.most_trials));
  }
  // In slices, so that a campaign that is cut short knows something of every variable.
  for (u64 slice = begin; slice < end; slice += kSlice) {
    for (Variable* variable : ready) {
      for (u64 number = slice; number < std::min(end, slice + kSlice); ++number) add(variable, number);
    }
  }
  batch("attacking", pieces.size(), [&](u64 i, exec::Worker& worker) {
    Piece& piece = pieces[i];
    std::optional<Profile> profile;
    for (std::size_t a = piece.begin; a < piece.end; ++a) {
      auto& [attack, list] = piece.variable->by[a];
      list[piece.number] = trials_.run(*pool_, worker, *piece.variable, attack, piece.number, profile);
      if (!list[piece.number]) return false;
    }
    return true;
  });
}

void Classifier::compare_outputs(const Variables& wanted) {
  std::vector<std::pair<Variable*, u64>> pieces;
  for (Variable* variable : wanted) {
    u64 most = std::max<u64>(kLeastExtraSchedules, 2 * variable->sc.size());
    if (!only_output(candidates_of(*variable))) continue;
    for (u64 i = variable->extra_schedules.size(); i < most; ++i) pieces.push_back({variable, i});
    variable->extra_schedules.resize(std::max<std::size_t>(most, variable->extra_schedules.size()));
  }
  batch("schedules that print other things", pieces.size(), [&](u64 i, exec::Worker& worker) {
    auto [variable, number] = pieces[i];
    variable->extra_schedules[number] = trials_.run_extra_schedule(*pool_, worker, *variable, number);
    return variable->extra_schedules[number].has_value();
  });
}

void Classifier::examine(const Variables& wanted) {
  charge(wanted);
  note_program_failures();
  compare_outputs(wanted);
  Variables failing;
  for (Variable* variable : wanted) {
    if (!candidates_of(*variable).empty()) failing.push_back(variable);
  }
  batch("making witnesses small", failing.size(), [&](u64 i, exec::Worker& worker) {
    Variable& variable = *failing[i];
    for (std::vector<Candidate> rest = candidates_of(variable); !rest.empty();
         rest = candidates_of(variable)) {
      std::optional<Witness> witness =
          WitnessExaminer(trials_, record_, *pool_, worker, variable).examine(rest.front());
      if (!witness) return false;
      variable.witnesses.push_back(std::move(*witness));
    }
    return true;
  });
  count_verdicts();
}

}  // namespace duress::classify
