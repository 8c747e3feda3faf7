// SPDX-License-Identifier: Apache-2.0
//
// ReadOnly owns a location until it is written after several threads have used it. Writes before that are its
// initialisation. The write gives it to the next tool.
#include "analysis/analysis.h"
#include "analysis/location_table.h"

namespace duress {
namespace {

struct Use {
  u32 thread = 0;  // 1 + Tid of the first user
  bool shared = false;
};

class ReadOnly final : public Analysis {
 public:
  explicit ReadOnly(Arena& arena) : table_(arena) {}
  const char* name() const override { return "ReadOnly"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    bool written = false;
    table_.access(access.address, access.size, [&](Use& use, uptr, u32) {
      u32 self = raw(thread.tid) + 1;
      if (!use.thread) use.thread = self;
      use.shared |= use.thread != self;
      written |= use.shared && is_write(access.kind);
    });
    return written ? Pass::kGive : Pass::kKeep;
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }

 private:
  LocationTable<Use> table_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(ReadOnly, context.arena);

}  // namespace duress
