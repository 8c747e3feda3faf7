// SPDX-License-Identifier: Apache-2.0
//
// Which steps of a traced execution are the loads that were given other values than memory held.
#pragma once

#include <map>
#include <utility>

#include "finding/run_logs.h"
#include "report/site_keys.h"
#include "trail/execution.h"

namespace duress::report {

/// The record names each replaced load by its thread, the key of its place and its value. A trace has more
/// loads of the same thread and value, so the place decides. It is known from the log for places that raced,
/// from the binary for the others; where neither knows it, thread and value do.
class ReplacedLoads {
 public:
  ReplacedLoads(const finding::RunLogs& logs, const finding::ProcessLog& process,
                const trail::Record& record);

  /// What the record has of this step, or null. Steps are asked about in their order.
  const trail::Replaced* at(const finding::Step& step);

 private:
  u32 key_of(const finding::SiteRecord& site);

  const trail::Record& record_;
  SiteKeys binaries_;
  std::map<std::pair<int, u32>, u32> keys_;  // by module and index; 0: not known
  u64 next_ = 0;
};

}  // namespace duress::report
