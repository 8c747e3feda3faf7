// SPDX-License-Identifier: Apache-2.0
//
// MultiRace (Pozniansky and Schuster): as long as one lock protects every access of a location, nothing has
// to be compared; once the candidate set is empty, DJIT+ takes over. What was accessed before that must not
// be lost, so it is kept in a short list meanwhile; clocks exist only for locations without a discipline.
// Unlike Eraser's, the candidate set counts from the first access: a lock in it orders all of them.
#include "analysis/arena_list.h"
#include "analysis/location_table.h"
#include "analysis/time_frame.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

struct Protected {
  struct Item {
    Slot slot;
    AccessClass c;
    Clock clock;
    AccessNote note;
  };
  ArenaList<Item> items;
  bool accessed = false;
  LockSetId candidates{};
  LocationMarks marks;

  Protected copy(Arena& arena) const { return {items.copy(arena), accessed, candidates, marks.copy(arena)}; }
  void drop(Arena& arena) {
    items.drop(arena);
    marks.drop(arena);
  }
  void put(Arena& arena, const Item& item) {
    for (Item& known : items) {
      if (known.slot == item.slot && known.c == item.c) {
        known = item;
        return;
      }
    }
    items.push(arena, item);
  }
};

class MultiRace final : public Analysis {
 public:
  explicit MultiRace(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lock_sets_(context.lock_sets),
        table_(context.arena) {}
  const char* name() const override { return "MultiRace"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    FramedAccess framed(thread, access);
    bool raced = false;
    table_.access(access.address, access.size, [&](Protected& p, uptr at, u32 size) {
      bool write = is_write(access.kind);
      // A set that is not known protects nothing.
      LockSetId held = framed.note.locks == LockSets::kUnknown ? LockSetId{0} : framed.note.locks;
      if (!p.accessed) {
        p.accessed = true;
        p.candidates = lock_sets_.protecting(held, write);
      } else if (p.candidates != LockSetId{0}) {
        p.candidates = lock_sets_.refine(p.candidates, held, write);
      }
      if (p.candidates != LockSetId{0}) {
        by_lock_.fetch_add(1, std::memory_order_relaxed);
        return p.put(arena_, {framed.slot, framed.kind, framed.frame, framed.note});
      }
      to_clocks(p);
      FrameCheck check = check_frame(arena_, p.marks, framed);
      if (check.first) by_clock_.fetch_add(1, std::memory_order_relaxed);
      if (check.grown) clocks_.fetch_add(1, std::memory_order_relaxed);
      if (!check.raced) return;
      raced = true;
      findings_.race({"MultiRace", at, size, check.earlier.side(), framed.note.side()});
    });
    return raced ? Pass::kGive : Pass::kKeep;
  }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("MultiRace: decided by locks", by_lock_.load(std::memory_order_relaxed));
    out.counter("MultiRace: decided by clocks", by_clock_.load(std::memory_order_relaxed));
    out.counter("MultiRace: clocks allocated", clocks_.load(std::memory_order_relaxed));
  }

 private:
  void to_clocks(Protected& p) {
    for (const Protected::Item& item : p.items) {
      if (p.marks.of[static_cast<int>(item.c)].set(arena_, item.slot, item.clock, item.note))
        clocks_.fetch_add(1, std::memory_order_relaxed);
    }
    p.items.count = 0;
  }

  Arena& arena_;
  RaceSink& findings_;
  LockSets& lock_sets_;
  LocationTable<Protected> table_;
  std::atomic<u64> by_lock_{0}, by_clock_{0}, clocks_{0};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(MultiRace, context);

}  // namespace duress
