// SPDX-License-Identifier: Apache-2.0
#include "analysis/count/count.h"

namespace duress {

static const char* const kAccessNames[] = {"reads",         "writes",      "atomic reads",
                                           "atomic writes", "atomic rmws", "frees"};
static const char* const kSyncNames[] = {
    "mutex locks", "mutex unlocks",    "read locks",    "read unlocks",  "releases",
    "acquires",    "forgotten",        "atomic loads",  "atomic stores", "atomic read-modify-writes",
    "fences",      "thread creations", "thread starts", "thread ends",   "thread joins",
    "allocations", "deallocations",    "mappings",      "block begins",  "block ends"};
static_assert(sizeof kSyncNames / sizeof *kSyncNames == kSyncKinds);

Pass Count::access(AnalysisThread&, const Access& access) {
  accesses_[static_cast<int>(access.kind)].fetch_add(1, std::memory_order_relaxed);
  u32 site = raw(access.place.site);
  for (u32 i = site * 0x9e3779b1u >> 16, tries = 0; site && tries < 64; ++tries, i = (i + 1) & (kSites - 1)) {
    u32 there = sites_[i].site.load(std::memory_order_relaxed);
    if (there == 0 && sites_[i].site.compare_exchange_strong(there, site, std::memory_order_relaxed))
      there = site;
    if (there == site) {
      sites_[i].count.fetch_add(1, std::memory_order_relaxed);
      break;
    }
  }
  return Pass::kForward;
}

void Count::sync(AnalysisThread&, const Sync& sync) {
  syncs_[static_cast<int>(sync.kind)].fetch_add(1, std::memory_order_relaxed);
}

u64 Count::of_site(SiteId site) const {
  for (u32 i = raw(site) * 0x9e3779b1u >> 16, tries = 0; tries < 64; ++tries, i = (i + 1) & (kSites - 1)) {
    if (sites_[i].site.load(std::memory_order_relaxed) == raw(site))
      return sites_[i].count.load(std::memory_order_relaxed);
  }
  return 0;
}

void Count::finish(LineSink& out) {
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
  for (const SiteCount& s : sites_) sites += s.site.load(std::memory_order_relaxed) != 0;
  emit("sites", sites);
}

DURESS_DEFINE_ANALYSIS(Count, context.arena);

}  // namespace duress
