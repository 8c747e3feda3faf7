// SPDX-License-Identifier: Apache-2.0
//
// RaceTrack (Yu, Rodeheffer and Chen): Eraser's candidate set, refined only while several threads use a
// location at the same time as far as messages tell (create, join, notify). A location that is used by one
// thread after the other, ordered by messages, starts with a new set for each; so handing over is not a
// violation.
#include "analysis/access_note.h"
#include "analysis/arena_list.h"
#include "analysis/location_table.h"
#include "analysis/message_clocks.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

/// A thread that uses a location.
struct User {
  AccessNote note;
  Clock clock;
  bool wrote;
};

struct Tracked {
  ArenaList<User> users;  // those that use it concurrently, each once
  LockSetId candidates{};

  Tracked copy(Arena& arena) const { return {users.copy(arena), candidates}; }
  void drop(Arena& arena) { users.drop(arena); }
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
      User* self = prune(t, thread.tid);
      bool wrote = write || (self && self->wrote);
      bool concurrent = t.users.count > (self ? 1u : 0u);
      if (!concurrent) {
        t.candidates = lock_sets_.protecting(note.locks, write);
      } else {
        t.candidates = lock_sets_.refine(t.candidates, note.locks, write);
      }
      if (self) {
        *self = {note, now, wrote};
      } else {
        t.users.push(arena_, {note, now, wrote});
      }
      if (!concurrent || t.candidates != LockSetId{0}) return;
      const AccessNote* other = nullptr;
      bool any_write = false;
      for (const User& user : t.users) {
        any_write |= user.wrote;
        if (user.note.thread != thread.tid && (!other || user.wrote)) other = &user.note;
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
  User* prune(Tracked& t, Tid tid) {
    u32 kept = 0;
    User* self = nullptr;
    for (const User& user : t.users) {
      bool own = user.note.thread == tid;
      if (!own && messages_.knows(tid, {user.note.thread, user.clock})) {
        pruned_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      t.users.items[kept] = user;
      if (own) self = &t.users.items[kept];
      ++kept;
    }
    t.users.count = kept;
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
