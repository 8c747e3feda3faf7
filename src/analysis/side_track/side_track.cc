// SPDX-License-Identifier: Apache-2.0
//
// SideTrack (Yi, Sadowski and Flanagan): atomicity generalised from one execution to others. If a block
// accesses a location twice, and an access of another thread between the two would not be serializable, that
// access need not have come between: it is enough that nothing keeps it out, neither a message that orders it
// nor a lock that the block holds all the way from the first to the second.
#include "analysis/access_note.h"
#include "analysis/growing_array.h"
#include "analysis/location_table.h"
#include "analysis/message_clocks.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

struct Single {
  AccessNote note;
  Clock clock;
  u64 block;    // number of the block; 0: in none
  u64 unlocks;  // of its thread, until then
};

struct Double {
  AccessNote first, second;
  LockSetId kept;  // locks held all the way between
  Clock first_clock, second_clock;
};

/// What a location remembers; the oldest goes.
struct Accesses {
  static constexpr u32 kMost = 32;
  Single* singles = nullptr;
  Double* doubles = nullptr;
  u32 single_count = 0, double_count = 0;

  Accesses copy(Arena& arena) const {
    Accesses a;
    a.make(arena);
    if (singles)
      memcpy(static_cast<void*>(a.singles), static_cast<const void*>(singles), sizeof(Single) * kMost);
    if (doubles)
      memcpy(static_cast<void*>(a.doubles), static_cast<const void*>(doubles), sizeof(Double) * kMost);
    a.single_count = single_count, a.double_count = double_count;
    return a;
  }
  void make(Arena& arena) {
    if (singles) return;
    singles = static_cast<Single*>(arena.allocate(sizeof(Single) * kMost));
    doubles = static_cast<Double*>(arena.allocate(sizeof(Double) * kMost));
  }
  void drop(Arena& arena) {
    if (!singles) return;
    arena.free(singles, sizeof(Single) * kMost);
    arena.free(doubles, sizeof(Double) * kMost);
  }
};

/// First and second of a block, another thread's between: not what any serial order gives.
bool unserializable(AccessKind first, AccessKind between, AccessKind second) {
  bool a = is_write(first), b = is_write(between), c = is_write(second);
  return (!a && b) || (a && !b && c) || (a && b && !c);
}

class SideTrack final : public Analysis {
 public:
  explicit SideTrack(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lock_sets_(context.lock_sets),
        threads_(context.arena),
        releases_(context.arena),
        messages_(context.arena),
        table_(context.arena) {}
  const char* name() const override { return "SideTrack"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    Clock now = messages_.now(thread.tid).clock;
    SpinGuard guard(lock_);
    ThreadState& t = threads_[raw(thread.tid)];
    Single self{note, now, t.depth ? t.block : 0, t.unlocks};
    table_.access(access.address, access.size, [&](Accesses& known, uptr at, u32) {
      known.make(arena_);
      for (u32 i = 0; i < known.double_count; ++i) between(known.doubles[i], self, at);
      for (u32 i = 0; i < known.single_count && self.block; ++i) {
        const Single& first = known.singles[i];
        if (first.block != self.block || first.note.thread != note.thread) continue;
        Double both{first.note, note, kept(thread.tid, first, note), first.clock, now};
        for (u32 k = 0; k < known.single_count; ++k) between(both, known.singles[k], at);
        if (known.double_count == Accesses::kMost) {
          memmove(static_cast<void*>(known.doubles), static_cast<const void*>(known.doubles + 1),
                  sizeof(Double) * --known.double_count);
        }
        known.doubles[known.double_count++] = both;
        ++doubles_;
        break;
      }
      if (known.single_count == Accesses::kMost) {
        memmove(static_cast<void*>(known.singles), static_cast<const void*>(known.singles + 1),
                sizeof(Single) * --known.single_count);
      }
      known.singles[known.single_count++] = self;
    });
    return Pass::kForward;
  }

  void sync(AnalysisThread& thread, const Sync& sync) override {
    messages_.sync(thread, sync);
    SpinGuard guard(lock_);
    ThreadState& t = threads_[raw(thread.tid)];
    if (sync.kind == SyncKind::kBlockBegin && t.depth++ == 0) t.block = ++blocks_;
    if (sync.kind == SyncKind::kBlockEnd && t.depth) --t.depth;
    if (sync.kind == SyncKind::kMutexUnlock || sync.kind == SyncKind::kReadUnlock) {
      releases_.push() = {thread.tid, sync.object, ++t.unlocks};
      if (releases_.size() > kMostReleases) releases_.clear();  // then locks count as kept: fewer warnings
    }
  }
  void fresh(uptr begin, uptr end) override {
    SpinGuard guard(lock_);
    table_.forget(begin, end);
  }
  void counters(CounterSink& out) const override {
    out.counter("SideTrack: blocks", blocks_);
    out.counter("SideTrack: locations accessed twice in a block", doubles_);
  }

 private:
  static constexpr size_t kMostReleases = 1u << 16;
  struct ThreadState {
    u32 depth;
    u64 block, unlocks;
  };
  struct Release {
    Tid thread;
    uptr lock;
    u64 number;  // of its thread's
  };

  /// The locks that a thread held at `first`, holds now, and did not give back meanwhile.
  LockSetId kept(Tid tid, const Single& first, const AccessNote& now) {
    u32 count;
    const HeldLock* held = lock_sets_.locks(now.locks, &count);
    LockSetId result{0};
    for (u32 i = 0; i < count; ++i) {
      u32 before_count;
      const HeldLock* before = lock_sets_.locks(first.note.locks, &before_count);
      bool both = false;
      for (u32 k = 0; k < before_count; ++k) both |= before[k] == held[i];
      for (size_t k = releases_.size(); both && k-- > 0;) {
        const Release& r = releases_.at(k);
        if (r.thread != tid) continue;
        if (r.number <= first.unlocks) break;
        if (r.lock == held[i].address) both = false;
      }
      if (both) result = lock_sets_.add(result, held[i]);
    }
    return result;
  }

  /// May `other` come between the two accesses of `both`?
  void between(const Double& both, const Single& other, uptr address) {
    if (other.note.thread == both.first.thread) return;
    if (!unserializable(both.first.kind, other.note.kind, both.second.kind)) return;
    if (lock_sets_.exclude(both.kept, other.note.locks)) return;
    if (messages_.knows(both.first.thread, {other.note.thread, other.clock}) ||
        messages_.knows(other.note.thread, {both.first.thread, both.first_clock}))
      return;
    findings_.warning({"SideTrack",
                       "another thread may come between two accesses of a block",
                       address,
                       3,
                       {both.first.side(), other.note.side(), both.second.side()}});
  }

  Arena& arena_;
  RaceSink& findings_;
  LockSets& lock_sets_;
  SpinLock lock_;  // everything below
  GrowingArray<ThreadState> threads_;
  GrowingArray<Release> releases_;
  MessageClocks messages_;
  LocationTable<Accesses> table_;
  u64 blocks_ = 0, doubles_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(SideTrack, context);

}  // namespace duress
