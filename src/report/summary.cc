// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <fmt/format.h>

#include "report/words.h"

namespace duress::report {
namespace {

using finding::VerdictKind;

/// The worst first.
constexpr VerdictKind kWorstFirst[] = {VerdictKind::kDestructive, VerdictKind::kSlower,
                                       VerdictKind::kNoHarmFound, VerdictKind::kSameValue,
                                       VerdictKind::kOpen};

std::size_t rank(VerdictKind kind) {
  std::size_t at = 0;
  while (kWorstFirst[at] != kind) ++at;
  return at;
}

}  // namespace

Summary count_races(const std::vector<JudgedPair>& pairs) {
  std::map<std::string, VerdictKind> worst;
  for (const JudgedPair& pair : pairs) {
    auto [it, fresh] = worst.try_emplace(pair.variable, pair.verdict);
    if (!fresh && rank(pair.verdict) < rank(it->second)) it->second = pair.verdict;
  }
  Summary summary;
  summary.races = worst.size();
  summary.pairs = pairs.size();
  for (const auto& [variable, kind] : worst) ++summary.by_verdict[kind];
  return summary;
}

std::string races_text(const Summary& summary, const char* word) {
  std::string text = count_text(summary.races, word);
  return summary.pairs == summary.races ? text
                                        : fmt::format("{} ({} pairs of accesses)", text, summary.pairs);
}

std::string verdict_counts_text(const Summary& summary) {
  std::string text = fmt::format("{} destructive", summary.count(VerdictKind::kDestructive));
  for (auto [kind, name] : {std::pair{VerdictKind::kSlower, "slower"},
                            {VerdictKind::kSameValue, "same value"},
                            {VerdictKind::kOpen, "not judged"}}) {
    if (std::uint64_t n = summary.count(kind)) text += fmt::format(", {} {}", n, name);
  }
  return text;
}

}  // namespace duress::report
