// SPDX-License-Identifier: Apache-2.0
//
// Which orders of threads a campaign has seen (`--coverage`): for each pair of places that touch one object,
// how many runs came to the one before the other, and the other way round.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "finding/finding.h"

namespace duress::report {

struct CoveragePlace {
  std::string operation;  // "atomic update", "lock", "wait", ...
  std::string variable;   // of accesses, if it is known
  finding::Frame frame;

  /// By file and line.
  auto order() const {
    return std::tie(frame.file, frame.line, frame.column, frame.function, operation, variable);
  }
};

struct CoveragePair {
  std::string kind;  // "access", "lock", "condition"
  CoveragePlace first, second;
  std::uint64_t forward = 0, backward = 0;         // runs in which `first` came before `second`, and after it
  bool new_forward = false, new_backward = false;  // the last campaign had not seen it

  /// Threads at one place have no order to tell apart.
  bool same_place() const;
  bool both() const { return same_place() || (forward != 0 && backward != 0); }
};

/// The pairs of one kind, counted.
struct KindOfPairs {
  const char* kind;
  const char* name;  // for people: "pair of accesses"
  std::uint64_t pairs = 0, both = 0;
};

struct Coverage {
  std::uint64_t runs = 0;           // that were looked at
  std::vector<CoveragePair> pairs;  // by kind and place
  bool compared = false;            // there was an earlier campaign of this program
  std::uint64_t lost = 0;           // orders that the last campaign has seen and this one has not
  std::uint64_t gained = 0;         // the other way round
  std::uint64_t both() const;
  /// Those that have pairs.
  std::vector<KindOfPairs> kinds() const;
  /// Adds what another program, or another test case, has seen; nothing is compared then.
  void add(const Coverage& other);
};

/// The order of Coverage::pairs.
bool comes_first(const CoveragePair& a, const CoveragePair& b);

/// For people: what was seen in one order only, a line for each, after a line with the counts.
std::string coverage_text(const Coverage& coverage, const std::string& folder);

}  // namespace duress::report
