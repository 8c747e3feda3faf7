// SPDX-License-Identifier: Apache-2.0
//
// SideTrack (Yi, Sadowski and Flanagan): atomicity generalised from one execution to others. If a block
// accesses a location twice, and an access of another thread between the two would not be serializable, that
// access need not have come between: it is enough that nothing keeps it out, neither a message that orders it
// nor a lock that the block holds all the way from the first to the second.
#include "analysis/access_note.h"
#include "analysis/arena_list.h"
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
  ArenaList<Single> singles;
  ArenaList<Double> doubles;

  Accesses copy(Arena& arena) const { return {singles.copy(arena), doubles.copy(arena)}; }
  void drop(Arena& arena) {
    singles.drop(arena);
    doubles.drop(arena);
  }
  template <typename T>
  static void add(Arena& arena, ArenaList<T>& list, const T& item) {
    constexpr u32 kMost = 32;
    if (list.count == kMost) list.pop_front();
    list.push(arena, item);
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
      for (const Double& both : known.doubles) between(both, self, at);
      for (const Single& first : known.singles) {
        if (!self.block || first.block != self.block || first.note.thread != note.thread) continue;
        Double both{first.note, note, kept(thread.tid, first, note), first.clock, now};
        for (const Single& other : known.singles) between(both, other, at);
        Accesses::add(arena_, known.doubles, both);
        ++doubles_;
        break;
      }
      Accesses::add(arena_, known.singles, self);
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
