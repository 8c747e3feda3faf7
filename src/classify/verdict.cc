// SPDX-License-Identifier: Apache-2.0
#include "classify/verdict.h"

#include <algorithm>

namespace duress::classify {
namespace {

const Trial* at(const TrialList& list, std::size_t number) {
  return number < list.size() && list[number] ? &*list[number] : nullptr;
}

void add_outputs(const TrialList& list, std::set<u64>& seen) {
  for (const std::optional<Trial>& trial : list) {
    if (trial && trial->passed()) seen.insert(trial->output);
  }
}

/// The lower one of two.
double median(std::vector<double> numbers) {
  auto middle = numbers.begin() + static_cast<std::ptrdiff_t>((numbers.size() - 1) / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Trials that count for "no harm found in N runs".
u64 ran(const TrialList& list) {
  return static_cast<u64>(
      std::count_if(list.begin(), list.end(), [](const auto& t) { return t && t->ran(); }));
}

Rate rate_of(const Attack& attack, const TrialList& list, const Variable& variable, const Outputs& outputs) {
  Rate rate{attack};
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i]) continue;
    rate.discarded += list[i]->outcome == TrialOutcome::kDiscarded;
    rate.runs += list[i]->ran();
    const Trial* sc = at(variable.sc, i);
    bool counts = !by_values(attack) || (sc != nullptr && sc->passed());
    rate.failed += counts && failure_of(*list[i], outputs).has_value();
  }
  return rate;
}

}  // namespace

Outputs outputs_of(const Variable& variable) {
  Outputs outputs;
  for (std::size_t i = 0; i < variable.sc.size(); ++i) {
    const Trial* trial = at(variable.sc, i);
    if (trial == nullptr || !trial->passed()) continue;
    bool fresh = outputs.seen.insert(trial->output).second;
    if (fresh && i > 0 && i >= variable.sc.size() / 2) outputs.settled = false;
  }
  for (const auto& [attack, list] : variable.by) {
    if (!by_values(attack)) add_outputs(list, outputs.seen);
  }
  add_outputs(variable.no_switch_runs, outputs.seen);
  add_outputs(variable.extra_schedules, outputs.seen);
  return outputs;
}

std::optional<finding::Failure> failure_of(const Trial& trial, const Outputs& outputs) {
  if (trial.failed()) return trial.failure;
  if (!trial.passed() || !outputs.settled || outputs.seen.empty() || outputs.seen.count(trial.output) != 0)
    return std::nullopt;
  finding::Failure failure;
  failure.kind = "output";
  failure.text = "it printed what no sequentially consistent run printed";
  failure.identity = failure.kind + '\0' + failure.detail + '\0';  // the same as identify() makes
  failure.id = finding::failure_id(failure.identity);
  return failure;
}

std::vector<Rate> rates_of(const Variable& variable) {
  Outputs outputs = outputs_of(variable);
  std::vector<Rate> rates{rate_of(baseline(), variable.sc, variable, outputs)};
  for (const auto& [attack, list] : variable.by) rates.push_back(rate_of(attack, list, variable, outputs));
  return rates;
}

std::vector<Candidate> candidates_of(const Variable& variable) {
  Outputs outputs = outputs_of(variable);
  std::set<std::string> anyway = variable.program_failures;  // it comes without replaced values too
  for (const finding::Failure& failure : schedule_failures(variable)) anyway.insert(failure.id);
  std::map<std::string, bool> charges;  // by id
  auto charged = [&](const finding::Failure& failure) {
    auto known = charges.find(failure.id);
    if (known == charges.end())
      known = charges.emplace(failure.id, charge_of(variable, failure).reason != Charge::Reason::kNone).first;
    return known->second;
  };
  std::vector<std::pair<int, Candidate>> found;
  auto add = [&](const Attack& attack, const TrialList& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i]) continue;
      std::optional<finding::Failure> failure = failure_of(*list[i], outputs);
      if (!failure) continue;
      int rank = failure->kind == "output" ? 8 : 0;  // a crash says more
      if (by_values(attack)) {
        const Trial* sc = at(variable.sc, i);
        if (sc == nullptr || !sc->passed()) continue;
        // A value may only have changed the schedule, and another one fails anyway: that is not evidence.
        bool known = anyway.count(failure->id) != 0;
        if (known && !more_often(variable, attack, *failure)) continue;
        // A failure by the schedule alone needs no memory model; a failure that also occurs without replaced
        // values is least certain to be caused by them; a load that stays stale forever is the weakest
        // evidence.
        rank += 1 + (known ? 4 : 0) + (attack.fair ? 0 : 2);
      } else if (!charged(*failure)) {
        continue;
      }
      found.push_back({rank, {attack, i, *failure, list[i]->output}});
    }
  };
  for (const auto& [attack, list] : variable.by) add(attack, list);
  add(baseline(), variable.sc);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });

  std::vector<Candidate> rest;
  if (variable.witness() != nullptr || variable.witnesses.size() >= kMostWitnesses) return rest;
  for (auto& [rank, candidate] : found) {
    bool seen = std::any_of(variable.witnesses.begin(), variable.witnesses.end(), [&](const Witness& w) {
      return w.by.label() == candidate.attack.label() && w.trial == candidate.trial;
    });
    if (!seen) rest.push_back(std::move(candidate));
  }
  return rest;
}

bool only_output(const std::vector<Candidate>& candidates) {
  return !candidates.empty() && std::all_of(candidates.begin(), candidates.end(),
                                            [](const Candidate& c) { return c.failure.kind == "output"; });
}

std::optional<Slower> slower_of(const Variable& variable) {
  u64 greatest = 0;
  for (const std::optional<Trial>& trial : variable.sc) {
    if (trial && trial->passed()) greatest = std::max(greatest, trial->steps);
  }
  std::optional<Slower> worst;
  for (const auto& [attack, list] : variable.by) {
    if (!by_values(attack) || !attack.fair) continue;
    std::vector<double> ratios, more;
    std::size_t above = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Trial* sc = at(variable.sc, i);
      if (!list[i] || !list[i]->passed() || sc == nullptr || !sc->passed() || sc->steps == 0) continue;
      ratios.push_back(static_cast<double>(list[i]->steps) / static_cast<double>(sc->steps));
      more.push_back(static_cast<double>(list[i]->steps) - static_cast<double>(sc->steps));
      above += list[i]->steps > greatest;
    }
    if (ratios.size() < kLeastSlowerTrials || above * 2 < ratios.size()) continue;
    double times = median(ratios);
    if (times >= kLeastSlower && median(more) >= kLeastMore && (!worst || times > worst->times))
      worst = Slower{attack, times};
  }
  return worst;
}

Verdict verdict_of(const Variable& variable) {
  Verdict verdict;
  verdict.rates = rates_of(variable);
  verdict.output_settled = outputs_of(variable).settled;
  const Witness* witness = variable.witness();
  if (witness != nullptr && witness->by.model == ModelId::kSc)
    verdict.charge = charge_of(variable, witness->failure);
  verdict.counterfactual =
      verdict.charge.reason == Charge::Reason::kNone ? verdict.rates[0] : verdict.charge.without;
  u64 stores = 0, changing = 0;
  bool started = true;
  auto take = [&](const TrialList& list) {
    verdict.runs += ran(list);
    for (const std::optional<Trial>& trial : list) {
      if (!trial) continue;
      stores += trial->stores;
      changing += trial->changing_stores;
      verdict.figures.take(trial->figures);
    }
  };
  take(variable.sc);
  take(variable.no_switch_runs);
  take(variable.extra_schedules);
  take(variable.charge.sc);
  take(variable.charge.no_switch);
  take(variable.charge.few_preemptions);
  for (const auto& [attack, list] : variable.charge.by) take(list);
  for (const auto& [attack, list] : variable.by) {
    take(list);
    started = started && (attack.most_trials == 0 || !list.empty());
  }
  for (const Rate& rate : verdict.rates) {
    if (by_values(rate.attack)) continue;
    verdict.sc_failed += rate.failed;
    verdict.sc_runs += rate.runs;
  }
  verdict.evidence = candidates_of(variable).size();
  if (witness != nullptr) {
    verdict.kind = VerdictKind::kDestructive;
  } else if (verdict.evidence != 0 || !started || !variable.decided) {
    verdict.kind = VerdictKind::kOpen;
  } else if (std::vector<finding::Failure> failures = schedule_failures(variable); !failures.empty()) {
    verdict.other_failure = failures.front();
  } else if ((verdict.slower = slower_of(variable))) {
    verdict.kind = VerdictKind::kSlower;
  } else {
    verdict.kind = stores != 0 && changing == 0 ? VerdictKind::kSameValue : VerdictKind::kNoHarmFound;
  }
  return verdict;
}

}  // namespace duress::classify
