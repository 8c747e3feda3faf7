// SPDX-License-Identifier: Apache-2.0
//
// Count counts the accesses that reach it, per kind and per site, and synchronisation per kind. After
// a filter in a chain it shows how much work the filter took away from the tools behind it.
#ifndef DURESS_ANALYSIS_COUNT_COUNT_H_
#define DURESS_ANALYSIS_COUNT_COUNT_H_

#include "analysis/analysis.h"

namespace duress {

class Count final : public Analysis {
 public:
  explicit Count(Arena& arena) : arena_(arena) {}

  const char* name() const override { return "Count"; }
  Pass access(AnalysisThread&, const Access& access) override;
  void sync(AnalysisThread&, const Sync& sync) override;
  void finish(LineSink& out) override;

  u64 of_kind(AccessKind kind) const {
    return accesses_[static_cast<int>(kind)].load(std::memory_order_relaxed);
  }
  u64 of_site(SiteId site) const;

 private:
  static constexpr u32 kSites = 1u << 16;
  struct SiteCount {
    std::atomic<u32> site;
    std::atomic<u64> count;
  };

  Arena& arena_;
  std::atomic<u64> accesses_[8] = {};
  std::atomic<u64> syncs_[32] = {};
  SiteCount sites_[kSites] = {};  // open addressing; when it is full further sites are not told apart
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_COUNT_COUNT_H_
