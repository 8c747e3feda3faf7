// SPDX-License-Identifier: Apache-2.0
//
// Everything one command found, ready to be written as text or JSON.
#ifndef DURESS_REPORT_REPORT_H_
#define DURESS_REPORT_REPORT_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "report/suppressions.h"

namespace duress::report {

/// What `duress collide` adds: which categories are shown, and what came of the sampling.
struct CollideReport {
  std::set<finding::Category> hidden;
  std::array<std::uint64_t, finding::kCategories> found{};  // pairs of places, suppressed ones not counted
  std::uint64_t samples = 0, fired = 0, armed = 0, hits = 0;
  double asked = 0;  // overhead; 0: none was asked for
  double overhead = 0;
  bool watchpoints = true;
  int pid = 0;  // of the process that was attached to
};

struct Report {
  std::string command;
  std::string version;
  std::int64_t seed = 1;
  std::vector<std::string> target;
  int runs = 1;
  double seconds = 0;
  std::string cwd;      // paths below it are shown relative to it
  int root_pid = 0;     // findings of other processes say which
  bool checked = true;  // races were looked for
  std::vector<finding::Race> races;
  std::vector<finding::Race> potential;  // suspected only; not among `races`
  std::vector<finding::Suspicion> suspicions;
  std::uint64_t suppressed = 0;  // groups hidden
  std::vector<finding::Crash> crashes;
  std::vector<std::string> incomplete;
  std::map<std::string, std::uint64_t> stats;  // summed over processes
  std::vector<std::string> warnings;           // about logs and binaries
  std::vector<Suppression> unused_suppressions;
  std::optional<CollideReport> collide;
};

/// Resolves, groups, suppresses and names everything in `log`, and fills the fields of `report` from `races`
/// on. The races come out ordered by place. REQUIRES: `report.collide` is set if the log is one of
/// collisions.
void fill_report(const finding::RunLog& log, Suppressions& suppressions, Report& report);

}  // namespace duress::report

#endif  // DURESS_REPORT_REPORT_H_
