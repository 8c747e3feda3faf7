// SPDX-License-Identifier: Apache-2.0
//
// Everything one command found, ready to be written as text or JSON.
#ifndef DURESS_REPORT_REPORT_H_
#define DURESS_REPORT_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "report/suppressions.h"

namespace duress::report {

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
};

/// Resolves, groups, suppresses and names everything in `log`, and fills the fields of `report` from `races`
/// on. The races come out ordered by place.
void fill_report(const finding::RunLog& log, Suppressions& suppressions, Report& report);

}  // namespace duress::report

#endif  // DURESS_REPORT_REPORT_H_
