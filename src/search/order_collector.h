// SPDX-License-Identifier: Apache-2.0
//
// Adds up in which orders the threads of a search's runs came to the same objects (report/coverage.h), from
// the steps of traced runs: accesses to a variable, critical sections of a lock, waits and notifications of a
// condition.
//
// An order counts only if the threads could have come in the other one as far as their lives tell: the second
// thread had been created when the first was there, and nobody had joined the first when the second came.
// What locks and flags forbid is not known here.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "finding/names.h"
#include "finding/run_logs.h"
#include "report/coverage.h"

namespace duress::search {

class OrderCollector {
 public:
  /// The orders of one run: numbers of places, the earlier one first; each once.
  using Orders = std::set<std::pair<u32, u32>>;

  /// Names the places of a run. REQUIRES: nobody else uses `names`.
  Orders read(const finding::RunLogs& logs, finding::Names& names);
  /// The run counts.
  void add(const Orders& orders);
  /// What an earlier part of the search has seen.
  void restore(const report::Coverage& coverage);
  /// Sorted, so that it does not depend on who came first.
  report::Coverage coverage() const;

 private:
  u32 number_of(const report::CoveragePlace& place);
  u32 number_of(const finding::ProcessLog& process, const finding::Step& step, finding::Names& names);

  std::vector<report::CoveragePlace> places_;
  std::map<std::string, u32> by_name_, by_address_;
  std::map<std::pair<u32, u32>, u64> runs_;  // that have shown the order
  u64 read_ = 0;                             // runs that count
};

}  // namespace duress::search
