// SPDX-License-Identifier: Apache-2.0
//
// `--coverage`: runs that are there to be looked at, not judged. Trials will not do: most of them are given
// values that no order of threads explains, and an interrupted campaign does not repeat them.
#include <algorithm>

#include "base/prng.h"
#include "classify/classify.h"
#include "search/kept_coverage.h"
#include "search/order_collector.h"

namespace duress::classify {
namespace {

constexpr u64 kFirst = 16, kAll = 100;  // runs; no more than the first if runs are long
constexpr u64 kLong = 2000;             // choices
constexpr StrategyId kStrategies[] = {StrategyId::kRandom, StrategyId::kPct, StrategyId::kPos};

struct SeenOrders {
  search::OrderCollector::Orders orders;
  u64 choices = 0;
};

exec::Plan plan_of(u64 seed, u64 number, const std::set<u32>& racing) {
  exec::Plan plan;
  plan.head.seed = mix(seed * 0xa0761d6478bd642fu + number);
  plan.head.strategy = kStrategies[number % std::size(kStrategies)];
  plan.head.depth = 1 + static_cast<u32>(number / std::size(kStrategies) % 3);
  plan.head.trace = true;
  plan.sites.assign(racing.begin(), racing.end());
  return plan;
}

}  // namespace

void Classifier::cover() {
  std::set<u32> racing;
  for (const auto& [name, variable] : variables())
    racing.insert(variable.sites.begin(), variable.sites.end());
  search::OrderCollector collector;
  u64 longest = 0;
  for (u64 begin = 0; begin < kAll && longest < kLong; begin = begin == 0 ? kFirst : kAll) {
    std::vector<SeenOrders> seen((begin == 0 ? kFirst : kAll) - begin);
    bool done = batch("looking at orders", seen.size(), [&](u64 i, exec::Worker& worker) {
      exec::Plan plan = plan_of(setup_.seed, begin + i, racing);
      exec::Result result = pool_->execute(worker, plan, oracle_, exec::Logs::kAll);
      if (!result.usable()) return false;
      seen[i].choices = result.execution().record.choices;
      std::lock_guard guard(trials_.names_lock());
      seen[i].orders = collector.read(result.logs(), names_);
      return true;
    });
    if (!done) return;
    for (const SeenOrders& one : seen) {
      collector.add(one.orders);
      longest = std::max(longest, one.choices);
    }
    coverage_runs_ += seen.size();
  }
  coverage_ = collector.coverage();
  std::string program = "classify\2";
  for (const std::string& word : setup_.worker.target) program += word + '\1';
  coverage_error_ = search::compare_with_last(setup_.dir, program + folder(), *coverage_);
}

}  // namespace duress::classify
