// SPDX-License-Identifier: Apache-2.0
//
// What every campaign (classify, search, verify) needs to know of the program and the work.
#pragma once

#include <string>

#include "exec/oracle.h"
#include "exec/worker.h"

namespace duress::exec {

struct CampaignSetup {
  WorkerOptions worker;  // its folder is the parent of the workers' own
  OracleOptions oracle;
  std::string dir;      // for findings and records
  double seconds = 0;   // 0: no limit
  double deadline = 0;  // exec::now() when all must be done; 0: `seconds` after the beginning
  unsigned jobs = 1;
};

}  // namespace duress::exec
