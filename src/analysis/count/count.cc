// SPDX-License-Identifier: Apache-2.0
//
// Count counts the accesses that reach it, their sites, and synchronisation per kind. After a filter in a
// chain it shows how much work the filter took away from the tools behind it.
#include "analysis/analysis.h"

namespace duress {
namespace {

const char* const kAccessNames[] = {"reads",         "writes",      "atomic reads",
                                    "atomic writes", "atomic rmws", "frees"};
const char* const kSyncNames[] = {
    "mutex locks", "mutex unlocks",    "read locks",    "read unlocks",  "releases",
    "acquires",    "forgotten",        "atomic loads",  "atomic stores", "atomic read-modify-writes",
    "fences",      "thread creations", "thread starts", "thread ends",   "thread joins",
    "allocations", "deallocations",    "mappings",      "block begins",  "block ends"};
static_assert(sizeof kSyncNames / sizeof *kSyncNames == kSyncKinds);

class Count final : public Analysis {
 public:
  explicit Count(Arena& arena) : arena_(arena) {}
  const char* name() const override { return "Count"; }

  Pass access(AnalysisThread&, const Access& access) override {
    accesses_[static_cast<int>(access.kind)].fetch_add(1, std::memory_order_relaxed);
    u32 site = raw(access.place.site);
    for (u32 i = site * 0x9e3779b1u >> 16, tries = 0; site && tries < 64;
         ++tries, i = (i + 1) & (kSites - 1)) {
      u32 there = sites_[i].load(std::memory_order_relaxed);
      if (there == 0 && sites_[i].compare_exchange_strong(there, site, std::memory_order_relaxed)) break;
      if (there == site) break;
    }
    return Pass::kForward;
  }

  void sync(AnalysisThread&, const Sync& sync) override {
    syncs_[static_cast<int>(sync.kind)].fetch_add(1, std::memory_order_relaxed);
  }

  void finish(LineSink& out) override {
    Text text(arena_);
    auto emit = [&](const char* name, u64 count) {
      if (!count) return;
      text.clear();
      text.put("Count: ").number(count).put(' ').put(name);
      out.line(text.data(), text.size());
    };
    for (u32 i = 0; i < sizeof kAccessNames / sizeof *kAccessNames; ++i)
      emit(kAccessNames[i], accesses_[i].load(std::memory_order_relaxed));
    for (u32 i = 0; i < sizeof kSyncNames / sizeof *kSyncNames; ++i)
      emit(kSyncNames[i], syncs_[i].load(std::memory_order_relaxed));
    u64 sites = 0;
    for (const std::atomic<u32>& site : sites_) sites += site.load(std::memory_order_relaxed) != 0;
    emit("sites", sites);
  }

 private:
  static constexpr u32 kSites = 1u << 16;

  Arena& arena_;
  std::atomic<u64> accesses_[8] = {};
  std::atomic<u64> syncs_[32] = {};
  std::atomic<u32> sites_[kSites] = {};  // open addressing; when it is full, further sites are not counted
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Count, context.arena);

}  // namespace duress
