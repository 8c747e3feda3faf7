// SPDX-License-Identifier: Apache-2.0
//
// LockSet: Eraser. Warns of locations that are shared and written with no lock common to all accesses. That
// is neither proof of a race (other orders than locks are not seen) nor its absence (the state machine
// forgives initialisation too generously). A location that is warned of is given to the next tool.
#include "analysis/eraser_state.h"
#include "analysis/location_table.h"

namespace duress {
namespace {

class LockSet final : public Analysis {
 public:
  explicit LockSet(const AnalysisContext& context)
      : findings_(context.findings), lock_sets_(context.lock_sets), table_(context.arena) {}
  const char* name() const override { return "LockSet"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    if (is_atomic(access.kind)) return Pass::kKeep;  // synchronisation, not data
    AccessNote note = AccessNote::of(thread, access);
    bool warned = false;
    table_.access(access.address, access.size, [&](EraserState& state, uptr at, u32 size) {
      EraserState::Stage before = state.stage;
      bool bare = state.refine(lock_sets_, note);
      if (state.stage != before)
        entered_[static_cast<int>(state.stage)].fetch_add(1, std::memory_order_relaxed);
      if (!bare) return;
      warned = true;
      findings_.race({"LockSet", at, size, state.other.side(), note.side(), true});
    });
    return warned ? Pass::kGive : Pass::kKeep;
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    static const char* const kNames[] = {"", "LockSet: exclusive", "LockSet: shared",
                                         "LockSet: shared-modified"};
    for (int i = 1; i < 4; ++i) out.counter(kNames[i], entered_[i].load(std::memory_order_relaxed));
  }

 private:
  RaceSink& findings_;
  LockSets& lock_sets_;
  LocationTable<EraserState> table_;
  std::atomic<u64> entered_[4] = {};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(LockSet, context);

}  // namespace duress
