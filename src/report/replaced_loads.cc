// SPDX-License-Identifier: Apache-2.0
#include "report/replaced_loads.h"

#include <algorithm>
#include <cstdlib>

namespace duress::report {

ReplacedLoads::ReplacedLoads(const finding::RunLogs& logs, const finding::ProcessLog& process,
                             const trail::Record& record)
    : record_(record), binaries_(process) {
  for (const finding::SiteKey& known : logs.keys) keys_[{known.site.module, known.site.index}] = known.key;
}

u32 ReplacedLoads::key_of(const finding::SiteRecord& site) {
  auto [it, fresh] = keys_.try_emplace({site.module, site.index}, 0);
  if (fresh) it->second = binaries_.find(site).key;
  return it->second;
}

const trail::Replaced* ReplacedLoads::at(const finding::Step& step) {
  if (!step.site || next_ >= std::min<u64>(record_.replaced, trail::Record::kMostReplaced)) return nullptr;
  const trail::Replaced& wanted = record_.first_replaced[next_];
  if (static_cast<int>(wanted.strand) != step.strand) return nullptr;
  if (!step.value.empty() && wanted.value[0] != std::strtoull(step.value.c_str(), nullptr, 0)) return nullptr;
  u32 key = key_of(*step.site);
  if (key != 0 && key != wanted.site) return nullptr;
  ++next_;
  return &wanted;
}

}  // namespace duress::report
