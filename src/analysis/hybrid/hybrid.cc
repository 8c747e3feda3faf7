// SPDX-License-Identifier: Apache-2.0
//
// Hybrid race detection (O'Callahan and Choi), as phase 1 of RaceFuzzer: two accesses of different threads to
// one location, one of them a write, that hold no lock in common and that no message orders, are a
// *potential* race, even if a lock that was passed on happened to order them in this run. It names pairs of
// sites; whether a pair is real is for the race-directed scheduler to show.
//
// A location remembers its accesses. A later access of the same thread at the same site with the same locks
// replaces the earlier one: what is unordered with the earlier is unordered with the later too. So the list
// is bounded by threads, sites and sets of locks; beyond kMostRemembered the oldest goes, and is counted.
#include "analysis/access_note.h"
#include "analysis/arena_list.h"
#include "analysis/location_table.h"
#include "analysis/message_clocks.h"
#include "base/prng.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

struct Remembered {
  AccessNote note;
  Clock clock;
};

constexpr u32 kMostRemembered = 256;  // of a location

class Hybrid final : public Analysis {
 public:
  explicit Hybrid(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lock_sets_(context.lock_sets),
        messages_(context.arena),
        table_(context.arena) {}

  const char* name() const override { return "Hybrid"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    Clock now = messages_.now(thread.tid).clock;
    bool suspect = false;
    table_.access(access.address, access.size, [&](ArenaList<Remembered>& history, uptr at, u32 size) {
      Remembered* same = nullptr;
      for (Remembered& earlier : history) {
        if (earlier.note.thread == note.thread) {
          if (earlier.note.kind == note.kind && earlier.note.locks == note.locks &&
              earlier.note.place.site == note.place.site) {
            same = &earlier;
          }
        } else if (can_race(earlier.note.kind, note.kind) &&
                   !lock_sets_.exclude(earlier.note.locks, note.locks) &&
                   !messages_.knows(thread.tid, {earlier.note.thread, earlier.clock})) {
          suspect = true;
          report(earlier.note, note, at, size);
        }
      }
      if (same) {
        *same = {note, now};
        return;
      }
      if (history.count == kMostRemembered) {
        history.pop_front();
        dropped_.fetch_add(1, std::memory_order_relaxed);
      }
      history.push(arena_, {note, now});
    });
    return suspect ? Pass::kForward : Pass::kKeep;
  }

  void sync(AnalysisThread& thread, const Sync& sync) override { messages_.sync(thread, sync); }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("Hybrid: potential pairs", pairs_.load(std::memory_order_relaxed));
    out.counter("Hybrid: accesses forgotten", dropped_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr u32 kKnown = 1u << 16;

  /// Each pair of sites at a location is reported once, as long as the table remembers it.
  void report(const AccessNote& earlier, const AccessNote& later, uptr address, u32 size) {
    u64 key = mix(mix(u64{raw(earlier.place.site)} << 32 | raw(later.place.site)) ^ address) | 1;
    if (known_[key >> 48].exchange(key, std::memory_order_relaxed) == key) return;
    pairs_.fetch_add(1, std::memory_order_relaxed);
    findings_.race({"Hybrid", address, size, earlier.side(), later.side(), true});
  }

  Arena& arena_;
  RaceSink& findings_;
  LockSets& lock_sets_;
  MessageClocks messages_;
  LocationTable<ArenaList<Remembered>> table_;
  std::atomic<u64> pairs_{0}, dropped_{0};
  std::atomic<u64> known_[kKnown] = {};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Hybrid, context);

}  // namespace duress
