// SPDX-License-Identifier: Apache-2.0
//
// The record of an execution, which the target writes, and those of executions ahead: a program that goes wild
// may leave anything there.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "exec/exchange.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::string error;
  static std::unique_ptr<exec::Exchange> exchange = exec::Exchange::make(error);
  static int record = open(exchange ? exchange->record_path().c_str() : "", O_RDWR);
  if (record < 0 || size < 1) return 0;
  exec::Plan plan;
  plan.head.systematic = (data[0] & 1) != 0;
  if (!exchange->put(plan) || exchange->put_ahead({plan, plan}, true) != 2) std::abort();
  // The first byte says where; the arrays behind the head are far apart.
  off_t at = data[0] & 2 ? static_cast<off_t>(trail::kStepsOffset) : 0;
  if ((data[0] & 4) != 0) at = static_cast<off_t>(trail::kAheadOffset);
  if (pwrite(record, data + 1, size - 1, at) != static_cast<ssize_t>(size - 1)) std::abort();
  exec::Execution execution;
  exchange->take(execution);
  if (execution.trail.size() > trail::kMostDeviations || execution.steps.size() > exhaustive::kMostSteps)
    std::abort();
  for (u32 i = 0; i < 2; ++i) {
    exec::Execution ahead;
    if (exchange->take_ahead(i, plan, ahead) && ahead.steps.size() > trail::kAheadBytes) std::abort();
  }
  static const char zeros[1 << 16] = {};
  if (pwrite(record, zeros, size - 1, at) != static_cast<ssize_t>(size - 1)) std::abort();
  return 0;
}
