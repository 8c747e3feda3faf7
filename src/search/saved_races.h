// SPDX-License-Identifier: Apache-2.0
//
// What the detecting runs of a search reported, as <dir>/searches/<hash>.races keeps it beside the search
// that may be cut short: a race is counted in all of them, however often the search was continued.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "base/types.h"
#include "finding/log_record.h"

namespace duress::search {

class SavedRaces {
 public:
  /// As for saved_search.h.
  SavedRaces(const std::string& dir, const std::string& key);

  /// Those of the runs before `next_run`, by run. What else the file has (of runs that are done again, or a
  /// line that was cut off by a kill) is removed from it.
  std::map<u64, finding::RunLog> load(u64 next_run);
  /// Adds those of runs before `next_run` that are not in the file. Before the search is saved. "" or what
  /// went wrong.
  std::string save(const std::map<u64, finding::RunLog>& races, u64 next_run);
  void forget();

 private:
  std::string path_;
  u64 saved_ = 0;                              // runs before this one are in the file
  std::unordered_map<std::string, u64> runs_;  // by text, the first run that has it
};

}  // namespace duress::search
