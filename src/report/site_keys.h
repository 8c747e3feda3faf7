// SPDX-License-Identifier: Apache-2.0
//
// The keys of sites as the runtime gives them (trail/site_key.h), computed from the binaries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "finding/log_record.h"
#include "report/site_table.h"

namespace duress::report {

/// A site, and how people call it.
struct KeyedSite {
  std::uint32_t key = 0;
  std::string place;
};

/// The sites of a process.
class SiteKeys {
 public:
  explicit SiteKeys(const finding::ProcessLog& process) : process_(process) {}
  KeyedSite find(const std::optional<finding::SiteRecord>& site);

 private:
  struct Loaded {
    SiteTable table;
    std::vector<std::uint32_t> keys;
  };
  const finding::ProcessLog& process_;
  std::map<int, Loaded> loaded_;  // by module
};

}  // namespace duress::report
