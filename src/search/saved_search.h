// SPDX-License-Identifier: Apache-2.0
//
// A search that was cut short, as <dir>/searches/<hash>.json keeps it until the same command continues it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/coverage.h"
#include "search/portfolio.h"

namespace duress::search {

struct SavedSearch {
  u64 next_run = 0;
  SearchState search_state;           // in force in the round of next_run
  std::vector<RunFeedback> feedback;  // of the runs of that round before next_run
  std::vector<std::string> failures;  // ids
  std::optional<report::Coverage> coverage;
};

/// `key` holds everything that must be equal for the search to be continued. A file that is damaged or of
/// another version counts as missing.
std::optional<SavedSearch> load_search(const std::string& dir, const std::string& key);
/// "" or what went wrong.
std::string save_search(const std::string& dir, const std::string& key, const SavedSearch& state);
/// The file with that suffix.
std::string search_path(const std::string& dir, const std::string& key, const char* suffix);
void forget_search(const std::string& dir, const std::string& key);

}  // namespace duress::search
