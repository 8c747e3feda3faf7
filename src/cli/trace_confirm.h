// SPDX-License-Identifier: Apache-2.0
//
// `duress trace predict --confirm`: lets racefuzzer bring together, in the program itself, what was predicted
// from a trace.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"
#include "cli/options.h"
#include "finding/log_record.h"

namespace duress::cli {

struct ConfirmOptions : DirOptions {
  std::vector<std::string> target;
  u64 runs = 256;
  std::int64_t seed = 1;
  bool quiet = false;
};

/// Runs the program and says of each race of the log whether its two accesses were brought together. An exit
/// code other than 0: it could not be done; a message was printed.
int confirm(const ConfirmOptions& options, const finding::RunLog& log);

}  // namespace duress::cli
