// SPDX-License-Identifier: Apache-2.0
//
// What a document holds in all. A race is one variable with all its pairs of accesses, in every format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "finding/verdict.h"

namespace duress::report {

struct Summary {
  std::uint64_t races = 0, pairs = 0, failures = 0, runs = 0;
  bool judged = false;                                       // else there are no verdicts
  std::map<finding::VerdictKind, std::uint64_t> by_verdict;  // races; kOpen: not judged

  std::uint64_t count(finding::VerdictKind kind) const {
    auto it = by_verdict.find(kind);
    return it == by_verdict.end() ? 0 : it->second;
  }
};

struct JudgedPair {
  std::string variable;
  finding::VerdictKind verdict;
};
/// Counts variables. The worst verdict of its pairs is the variable's.
Summary count_races(const std::vector<JudgedPair>& pairs);

/// "3 races (5 pairs of accesses)"; with "data race" for `word` "3 data races (...)".
std::string races_text(const Summary& summary, const char* word = "race");
/// "2 destructive, 1 slower": the verdicts that there are; destructive ones always.
std::string verdict_counts_text(const Summary& summary);

}  // namespace duress::report
