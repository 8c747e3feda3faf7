// SPDX-License-Identifier: Apache-2.0
//
// Atomizer (Flanagan and Freund): Lipton's theory of reduction. A block that is meant to be atomic is, if it
// is a run of right-movers (taking a lock), at most one access that is not a mover, then left-movers (giving
// a lock back). Accesses that a lock protects move both ways; those that Eraser would warn of do not move.
// Anything but a left-mover after the turning point shows that the block may be interrupted there.
#include "analysis/eraser_state.h"
#include "analysis/growing_array.h"
#include "analysis/location_table.h"

namespace duress {
namespace {

class Atomizer final : public Analysis {
 public:
  explicit Atomizer(const AnalysisContext& context)
      : findings_(context.findings),
        lock_sets_(context.lock_sets),
        threads_(context.arena),
        table_(context.arena) {}
  const char* name() const override { return "Atomizer"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    AccessNote other;  // what makes it no mover: an access of another thread
    bool moves = true, has_other = false;
    if (is_atomic(access.kind)) {
      moves = false;
    } else {
      table_.access(access.address, access.size, [&](EraserState& state, uptr, u32) {
        if (!state.refine(lock_sets_, note)) return;
        moves = false;
        if (state.other.thread == note.thread) return;
        other = state.other;
        has_other = true;
      });
    }
    if (moves) return Pass::kForward;
    SpinGuard guard(lock_);
    Block& block = threads_[raw(thread.tid)];
    if (!block.depth) return Pass::kForward;
    ++non_movers_;
    if (block.turned) {
      warn(block, note, access.address, has_other ? &other : nullptr);
    } else {
      block.turned = true;
      block.turn = note;
    }
    return Pass::kForward;
  }

  void sync(AnalysisThread& thread, const Sync& sync) override {
    SpinGuard guard(lock_);
    Block& block = threads_[raw(thread.tid)];
    AccessNote note{sync.place, thread.tid, thread.locks ? *thread.locks : LockSetId{0}, AccessKind::kRead};
    switch (sync.kind) {
      case SyncKind::kBlockBegin:
        if (block.depth++ == 0) block.turned = false;
        break;
      case SyncKind::kBlockEnd:
        if (block.depth) --block.depth;
        break;
      case SyncKind::kMutexLock:
      case SyncKind::kReadLock:
        if (!block.depth) break;
        ++right_movers_;
        if (block.turned) warn(block, note, sync.object);
        break;
      case SyncKind::kMutexUnlock:
      case SyncKind::kReadUnlock:
        if (!block.depth) break;
        ++left_movers_;
        if (!block.turned) block.turn = note;
        block.turned = true;
        break;
      default:
        break;
    }
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("Atomizer: right-movers", right_movers_);
    out.counter("Atomizer: left-movers", left_movers_);
    out.counter("Atomizer: non-movers", non_movers_);
  }

 private:
  struct Block {
    u32 depth;    // 0: the thread is in none
    bool turned;  // a left-mover or a non-mover has come
    AccessNote turn;
  };

  void warn(const Block& block, const AccessNote& note, uptr address, const AccessNote* other = nullptr) {
    Warning warning{"Atomizer", "block may not be atomic", address, 2, {note.side(), block.turn.side()}};
    if (!raw(block.turn.place.site) && !raw(block.turn.place.stack))
      warning.count = 1;  // an unlock has no place
    // So that a strategy can bring the two together.
    if (other) warning.sides[warning.count++] = other->side();
    findings_.warning(warning);
  }

  RaceSink& findings_;
  LockSets& lock_sets_;
  SpinLock lock_;  // what follows, but the table
  GrowingArray<Block> threads_;
  u64 right_movers_ = 0, left_movers_ = 0, non_movers_ = 0;
  LocationTable<EraserState> table_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Atomizer, context);

}  // namespace duress
