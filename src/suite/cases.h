// SPDX-License-Identifier: Apache-2.0
//
// From the tests that CTest knows to the cases that are classified, and the fixtures around them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "suite/campaign.h"

namespace duress::suite {

/// Appends a CTest test as one case or several, with the reason where one cannot be classified. `notes` are
/// lines for the user.
void add_cases(const CtestTest& test, std::vector<CaseResult>& cases, std::vector<std::string>& notes);

/// Runs the tests that prepare (`before`) or clean up what the chosen ones need, once and unchanged. `notes`
/// gets a line for each that failed.
void run_fixtures(const std::vector<CtestTest>& all, const std::vector<CtestTest>& chosen, bool before,
                  const std::atomic<bool>& stop, std::vector<std::string>& notes);

/// Leaves the cases of one shard, as GoogleTest (GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX) and Bazel
/// (TEST_TOTAL_SHARDS, TEST_SHARD_INDEX, and a file TEST_SHARD_STATUS_FILE that says so) ask for it in the
/// environment. The variables are then taken away: each case is one test program with one test, which must
/// run whatever shard it is in. "" or what is wrong with them.
std::string keep_shard(std::vector<CaseResult>& cases);

/// ", 2 fail anyway, 1 disabled": what became of the cases that were not judged.
std::string outcomes_text(const std::vector<CaseResult>& cases);

}  // namespace duress::suite
