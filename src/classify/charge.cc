// SPDX-License-Identifier: Apache-2.0
#include "classify/charge.h"

#include <algorithm>

namespace duress::classify {
namespace {

using Reason = Charge::Reason;

bool has(const std::optional<Trial>& trial, const finding::Failure& failure) {
  return trial && trial->failed() && same_failure(failure, trial->failure);
}

void count(const TrialList& list, const finding::Failure& failure, Rate& rate) {
  for (const std::optional<Trial>& trial : list) {
    if (!trial) continue;
    rate.runs += trial->ran();
    rate.discarded += trial->outcome == TrialOutcome::kDiscarded;
    rate.failed += has(trial, failure);
  }
}

/// The same seeds under sequentially consistent memory and under an attack: only where both ran.
void count_pairs(const TrialList& sc, const TrialList& attacked, const finding::Failure& failure,
                 Charge& charge) {
  for (std::size_t i = 0; i < std::min(sc.size(), attacked.size()); ++i) {
    if (!sc[i] || !sc[i]->ran() || !attacked[i] || !attacked[i]->ran()) continue;
    ++charge.with.runs;
    ++charge.without.runs;
    charge.with.failed += has(sc[i], failure);
    charge.without.failed += has(attacked[i], failure);
  }
}

const TrialList& extra_of(const Variable& variable, const Attack& attack) {
  static const TrialList kNone;
  for (const auto& [known, list] : variable.charge.by) {
    if (known.label() == attack.label()) return list;
  }
  return kNone;
}

Charge compare_values(const Variable& variable, const Attack& attack, const TrialList& list,
                      const finding::Failure& failure) {
  Charge charge;
  charge.reason = Reason::kValues;
  charge.with.attack = baseline();
  charge.without.attack = attack;
  count_pairs(variable.sc, list, failure, charge);
  count_pairs(variable.charge.sc, extra_of(variable, attack), failure, charge);
  return charge;
}

/// Everything that the failure could be charged to, with its rates.
std::vector<Charge> comparisons(const Variable& variable, const finding::Failure& failure) {
  std::vector<Charge> all;
  Rate unswitched{no_switch_baseline()};
  count(variable.no_switch_runs, failure, unswitched);
  count(variable.charge.no_switch, failure, unswitched);
  Rate switched{baseline()};
  count(variable.sc, failure, switched);
  count(variable.charge.sc, failure, switched);
  all.push_back({Reason::kSwitches, switched, unswitched});
  for (const auto& [attack, list] : variable.by) {
    if (by_values(attack)) {
      if (attack.fair) all.push_back(compare_values(variable, attack, list, failure));
      continue;
    }
    Rate directed{attack};
    count(list, failure, directed);
    all.push_back({Reason::kSwitches, directed, unswitched});
  }
  std::erase_if(all, [](const Charge& charge) { return charge.with.runs == 0 || charge.without.runs == 0; });
  return all;
}

double chance_of(const Charge& charge) {
  return fisher({charge.with.failed, charge.with.runs}, {charge.without.failed, charge.without.runs});
}

/// Evidence (b).
bool values_matter(const Variable& variable, const finding::Failure& failure) {
  return std::any_of(
      variable.charge.reordered.begin(), variable.charge.reordered.end(),
      [&](const ReorderedSchedule& one) { return one.failure == failure.id && one.passed != 0; });
}

/// Evidence (b) cannot be had. A load of memory that was freed has no other value that would be legal; and
/// where values cannot be replaced, (a) is enough if no other race could be the cause.
bool by_rates_alone(const Variable& variable) {
  return variable.freed || (variable.fixed_values && variable.only_one);
}

/// How many schedules with this failure were run with other values.
u64 reordered_of(const Variable& variable, const finding::Failure& failure, bool few_preemptions) {
  u64 count = 0;
  for (const ReorderedSchedule& one : variable.charge.reordered) {
    bool few = one.by.strategy == few_preemptions_baseline().strategy;
    count += one.failure == failure.id && few == few_preemptions;
  }
  return count;
}

}  // namespace

bool same_failure(const finding::Failure& a, const finding::Failure& b) {
  // In which way a run does not end depends on chance: in a spin loop, or at the end of the budget.
  return a.kind == "no-end" ? b.kind == "no-end" : a.id == b.id;
}

bool by_values(const Attack& attack) {
  return attack.model != ModelId::kSc;
}

Charge charge_of(const Variable& variable, const finding::Failure& failure) {
  if (!by_rates_alone(variable) && !values_matter(variable, failure)) return {};
  std::vector<Charge> all = comparisons(variable, failure);
  Charge best;
  for (Charge& charge : all) {
    charge.chance = chance_of(charge);
    if (charge.chance < best.chance) best = charge;
  }
  return best.chance < kMostChance / static_cast<double>(all.size()) ? best : Charge{};
}

std::vector<finding::Failure> schedule_failures(const Variable& variable) {
  std::vector<finding::Failure> failures;
  auto add = [&](const TrialList& list) {
    for (const std::optional<Trial>& trial : list) {
      if (!trial || !trial->failed()) continue;
      bool known = std::any_of(failures.begin(), failures.end(), [&](const finding::Failure& one) {
        return same_failure(one, trial->failure);
      });
      if (!known) failures.push_back(trial->failure);
    }
  };
  add(variable.sc);
  for (const auto& [attack, list] : variable.by) {
    if (!by_values(attack)) add(list);
  }
  return failures;
}

std::optional<Attack> most_mending(const Variable& variable, const finding::Failure& failure) {
  std::optional<Attack> best;
  double least = 1;
  for (const auto& [attack, list] : variable.by) {
    if (!by_values(attack) || !attack.fair) continue;
    double chance = chance_of(compare_values(variable, attack, list, failure));
    if (best && chance >= least) continue;
    best = attack;
    least = chance;
  }
  return best;
}

std::vector<FailingTrial> to_reorder(const Variable& variable) {
  const std::vector<ReorderedSchedule>& done = variable.charge.reordered;
  std::vector<FailingTrial> wanted;
  for (const finding::Failure& failure : schedule_failures(variable)) {
    if (values_matter(variable, failure)) continue;
    u64 left = kMostReordered - std::min(kMostReordered, reordered_of(variable, failure, false));
    u64 few_left = kMostReordered - std::min(kMostReordered, reordered_of(variable, failure, true));
    auto add = [&](const Attack& attack, const TrialList& list, u64 first, u64& left) {
      for (std::size_t i = 0; i < list.size() && left != 0; ++i) {
        bool known = std::any_of(done.begin(), done.end(), [&](const ReorderedSchedule& one) {
          return one.number == first + i && one.by.label() == attack.label();
        });
        if (known || !has(list[i], failure)) continue;
        wanted.push_back({attack, first + i, failure});
        --left;
      }
    };
    add(baseline(), variable.sc, 0, left);
    for (const auto& [attack, list] : variable.by) {
      if (!by_values(attack)) add(attack, list, 0, left);
    }
    add(baseline(), variable.charge.sc, ChargeTrials::kFirstExtra, left);
    add(few_preemptions_baseline(), variable.charge.few_preemptions, 0, few_left);
  }
  return wanted;
}

bool needs_few_preemptions(const Variable& variable) {
  std::vector<finding::Failure> failures = schedule_failures(variable);
  return !by_rates_alone(variable) &&
         std::any_of(failures.begin(), failures.end(),
                     [&](const finding::Failure& failure) { return !values_matter(variable, failure); });
}

bool worth_more(const Variable& variable, const finding::Failure& failure) {
  if (charge_of(variable, failure).reason != Reason::kNone) return false;
  if (by_rates_alone(variable) || values_matter(variable, failure)) return true;
  return reordered_of(variable, failure, false) < kMostReordered;
}

bool more_often(const Variable& variable, const Attack& attack, const finding::Failure& failure) {
  for (const auto& [known, list] : variable.by) {
    if (known.label() != attack.label()) continue;
    Charge rates = compare_values(variable, attack, list, failure);
    std::swap(rates.with, rates.without);
    return chance_of(rates) < kMostChance;
  }
  return false;
}

}  // namespace duress::classify
