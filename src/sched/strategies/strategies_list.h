// SPDX-License-Identifier: Apache-2.0
//
// The strategies, one object each for the life of the process; strategy_table.cc gives them their numbers.
#ifndef DURESS_SCHED_STRATEGIES_STRATEGIES_LIST_H_
#define DURESS_SCHED_STRATEGIES_STRATEGIES_LIST_H_

#include "sched/strategy.h"

namespace duress::sched {

Strategy& replay_strategy();
Strategy& random_strategy();
Strategy& pct_strategy();
Strategy& pos_strategy();
Strategy& racefuzzer_strategy();
Strategy& round_robin_strategy();
Strategy& exhaustive_strategy();

}  // namespace duress::sched

#endif  // DURESS_SCHED_STRATEGIES_STRATEGIES_LIST_H_
