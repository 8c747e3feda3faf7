// SPDX-License-Identifier: Apache-2.0
//
// ThreadLocal owns a location as long as one thread uses it; the access of a second thread gives it to the
// next tool, which has not seen what came before. So it takes most of the work off the tools behind it,
// and hides from them the accesses of the first thread.
#include "analysis/analysis.h"
#include "analysis/location_table.h"

namespace duress {
namespace {

struct Owner {
  u32 thread = 0;  // 1 + Tid
};

class ThreadLocal final : public Analysis {
 public:
  explicit ThreadLocal(Arena& arena) : table_(arena) {}
  const char* name() const override { return "ThreadLocal"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    bool shared = false;
    table_.access(access.address, access.size, [&](Owner& owner, uptr, u32) {
      if (!owner.thread) owner.thread = raw(thread.tid) + 1;
      shared |= owner.thread != raw(thread.tid) + 1;
    });
    return shared ? Pass::kGive : Pass::kKeep;
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }

 private:
  LocationTable<Owner> table_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(ThreadLocal, context.arena);

}  // namespace duress
