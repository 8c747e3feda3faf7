// SPDX-License-Identifier: Apache-2.0
#include "report/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

/// In the order in which they are shown.
constexpr const char* kKinds[][2] = {
    {"access", "pair of accesses"}, {"lock", "pair of critical sections"}, {"condition", "wait and notify"}};

std::string place_text(const CoveragePlace& place, const std::string& folder) {
  std::string where = place.frame.file.empty()
                          ? place.frame.function
                          : fmt::format("{}:{}", shown_path(place.frame.file, folder), place.frame.line);
  std::string what = place.operation;
  if (!place.variable.empty()) what += " " + place.variable;
  return printable(fmt::format("{} ({})", where, what));
}

/// "new" if the last campaign had not seen the only order that there is.
std::string mark(const Coverage& coverage, const CoveragePair& pair) {
  return coverage.compared && (pair.new_forward || pair.new_backward) ? "  new" : "";
}

}  // namespace

bool CoveragePair::same_place() const {
  return first.operation == second.operation && first.frame.file == second.frame.file &&
         first.frame.line == second.frame.line && first.frame.column == second.frame.column &&
         first.frame.function == second.frame.function;
}

std::uint64_t Coverage::both() const {
  return static_cast<std::uint64_t>(
      std::count_if(pairs.begin(), pairs.end(), [](const CoveragePair& pair) { return pair.both(); }));
}

std::vector<KindOfPairs> Coverage::kinds() const {
  std::vector<KindOfPairs> result;
  for (const auto& [kind, name] : kKinds) {
    KindOfPairs one{kind, name};
    for (const CoveragePair& pair : pairs) {
      one.pairs += pair.kind == kind;
      one.both += pair.kind == kind && pair.both();
    }
    if (one.pairs != 0) result.push_back(one);
  }
  return result;
}

bool comes_first(const CoveragePair& a, const CoveragePair& b) {
  return std::tuple(std::tie(a.kind), a.first.order(), a.second.order()) <
         std::tuple(std::tie(b.kind), b.first.order(), b.second.order());
}

void Coverage::add(const Coverage& other) {
  std::map<CoveragePair, std::size_t, bool (*)(const CoveragePair&, const CoveragePair&)> known(comes_first);
  for (std::size_t i = 0; i < pairs.size(); ++i) known.emplace(pairs[i], i);
  for (const CoveragePair& pair : other.pairs) {
    auto [at, fresh] = known.try_emplace(pair, pairs.size());
    if (fresh) {
      pairs.push_back(pair);
    } else {
      pairs[at->second].forward += pair.forward;
      pairs[at->second].backward += pair.backward;
    }
  }
  std::sort(pairs.begin(), pairs.end(), comes_first);
  for (CoveragePair& pair : pairs) pair.new_forward = pair.new_backward = false;
  runs += other.runs;
  compared = false;
  gained = lost = 0;
}

std::string coverage_text(const Coverage& coverage, const std::string& folder) {
  constexpr std::size_t kMostRows = 50;
  std::string text = fmt::format("coverage: {} of {} seen in both orders, in {}\n", coverage.both(),
                                 plural(coverage.pairs.size(), "pair"), plural(coverage.runs, "run"));
  for (const KindOfPairs& kind : coverage.kinds())
    text += fmt::format("  {:<28}{:>5} of {}\n", kind.name, kind.both, kind.pairs);
  std::size_t rows = 0, left_out = 0;
  for (const CoveragePair& pair : coverage.pairs) {
    if (pair.both()) continue;
    if (++rows > kMostRows) {
      ++left_out;
      continue;
    }
    if (rows == 1) text += "in one order only, the first one before the second:\n";
    const bool turned = pair.forward == 0;
    text += fmt::format("  {}  before  {}{}\n", place_text(turned ? pair.second : pair.first, folder),
                        place_text(turned ? pair.first : pair.second, folder), mark(coverage, pair));
  }
  if (left_out != 0) text += fmt::format("  and {} more: --json has all\n", left_out);
  if (coverage.compared)
    text += fmt::format("since the last campaign: {} seen for the first time, {} not seen again\n",
                        plural(coverage.gained, "order"), plural(coverage.lost, "order"));
  return text;
}

}  // namespace duress::report
