// SPDX-License-Identifier: Apache-2.0
//
// RaceTrack (Yu, Rodeheffer and Chen): Eraser's candidate set, refined only while several threads use a
// location at the same time as far as messages tell (create, join, notify). A location that is used by one
// thread after the other, ordered by messages, starts anew with each; so handing over is no violation.
#include "analysis/access_note.h"
#include "analysis/location_table.h"
#include "analysis/message_clocks.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

struct Tracked {
  struct User {
    AccessNote note;
    Clock clock;
    bool wrote;
  };
  User* users = nullptr;  // the threads that use it concurrently, each once
  u16 count = 0, capacity = 0;
  LockSetId candidates{};

  Tracked copy(Arena& arena) const {
    Tracked t = *this;
    t.users = nullptr, t.count = t.capacity = 0;
    for (u16 i = 0; i < count; ++i) t.push(arena) = users[i];
    return t;
  }
  void drop(Arena& arena) { arena.free(users, capacity * sizeof(User)); }
  User& push(Arena& arena) {
    if (count == capacity) {
      u16 more = capacity ? static_cast<u16>(capacity * 2) : u16{2};
      auto* grown = static_cast<User*>(arena.allocate(more * sizeof(User)));
      if (count) memcpy(static_cast<void*>(grown), static_cast<const void*>(users), count * sizeof(User));
      arena.free(users, capacity * sizeof(User));
      users = grown, capacity = more;
    }
    return users[count++];
  }
};

class RaceTrack final : public Analysis {
 public:
  explicit RaceTrack(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lock_sets_(context.lock_sets),
        messages_(context.arena),
        table_(context.arena) {}
  const char* name() const override { return "RaceTrack"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    if (is_atomic(access.kind)) return Pass::kKeep;
    AccessNote note = AccessNote::of(thread, access);
    bool write = is_write(access.kind), warned = false;
    Clock now = messages_.now(thread.tid).clock;
    table_.access(access.address, access.size, [&](Tracked& t, uptr at, u32 size) {
      const Tracked::User* self = prune(t, thread.tid);
      bool wrote = write || (self && self->wrote);
      bool concurrent = t.count > (self ? 1u : 0u);
      if (!concurrent) {
        t.candidates = lock_sets_.protecting(note.locks, write);
      } else {
        t.candidates = lock_sets_.refine(t.candidates, note.locks, write);
      }
      Tracked::User mine{note, now, wrote};
      if (self) {
        *const_cast<Tracked::User*>(self) = mine;
      } else {
        t.push(arena_) = mine;
      }
      if (!concurrent || t.candidates != LockSetId{0}) return;
      const AccessNote* other = nullptr;
      bool any_write = false;
      for (u16 i = 0; i < t.count; ++i) {
        any_write |= t.users[i].wrote;
        if (t.users[i].note.thread != thread.tid && (!other || t.users[i].wrote)) other = &t.users[i].note;
      }
      if (!any_write) return;
      warned = true;
      findings_.race({"RaceTrack", at, size, other->side(), note.side(), true});
    });
    return warned ? Pass::kGive : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override { messages_.sync(thread, sync); }
  void fresh(uptr begin, uptr end) override { table_.forget(begin, end); }
  void counters(CounterSink& out) const override {
    out.counter("RaceTrack: users pruned", pruned_.load(std::memory_order_relaxed));
  }

 private:
  /// Leaves the users that messages do not order before `tid`. Returns its own entry, or null.
  const Tracked::User* prune(Tracked& t, Tid tid) {
    u16 kept = 0;
    const Tracked::User* self = nullptr;
    for (u16 i = 0; i < t.count; ++i) {
      bool own = t.users[i].note.thread == tid;
      if (!own && messages_.knows(tid, {t.users[i].note.thread, t.users[i].clock})) {
        pruned_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      t.users[kept] = t.users[i];
      if (own) self = &t.users[kept];
      ++kept;
    }
    t.count = kept;
    return self;
  }

  Arena& arena_;
  RaceSink& findings_;
  LockSets& lock_sets_;
  MessageClocks messages_;
  LocationTable<Tracked> table_;
  std::atomic<u64> pruned_{0};
};

}  // namespace

DURESS_DEFINE_ANALYSIS(RaceTrack, context);

}  // namespace duress
