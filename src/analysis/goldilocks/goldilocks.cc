// SPDX-License-Identifier: Apache-2.0
//
// Goldilocks (Elmas, Qadeer and Tasiran): after an access, the set of threads that may access the location
// next without a race. It begins as the thread itself and grows with synchronisation. Its members are the
// elements of sync_flow.h: threads, and what an unlock or a store left behind.
//
// The sets are computed when they are needed: synchronisation is a list of steps, an access remembers its
// place in the list, and the next access of the location walks from there. When the list gets long, all sets
// are brought up to date and it is emptied.
#include <algorithm>

#include "analysis/access_note.h"
#include "analysis/arena_list.h"
#include "analysis/location_table.h"
#include "analysis/marks.h"
#include "analysis/sync_flow.h"
#include "clock/lock_set.h"

namespace duress {
namespace {

/// The elements that know of an access, unsorted: most sets have one to three.
struct ElementSet : ArenaList<Element> {
  bool has(Element e) const { return std::find(begin(), end(), e) != end(); }
  void add(Arena& arena, Element e) {
    if (!has(e)) push(arena, e);
  }
  void remove(Element e) {
    if (Element* found = std::find(begin(), end(), e); found != end()) *found = items[--count];
  }
};

/// An access that later ones must happen after, and who does.
struct Grant {
  Grant* next;
  AccessNote note;
  AccessClass c;
  u64 place;  // in the list of steps
  u64 made;   // its place when the access was made
  ElementSet who;
};

struct Grants {
  Grant* first = nullptr;

  Grants copy(Arena& arena) const {
    Grants g;
    for (const Grant* at = first; at; at = at->next) {
      auto* item = static_cast<Grant*>(arena.allocate(sizeof(Grant)));
      *item = {g.first, at->note, at->c, at->place, at->made, {at->who.copy(arena)}};
      g.first = item;
    }
    return g;
  }
  void drop(Arena& arena) {
    while (first) remove(arena, first);
  }
  static void remove(Arena& arena, Grant*& link) {
    Grant* gone = link;
    link = gone->next;
    gone->who.drop(arena);
    arena.free(gone, sizeof(Grant));
  }
};

class Goldilocks final : public Analysis, private FlowSink {
 public:
  explicit Goldilocks(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lock_sets_(context.lock_sets),
        flow_(context.arena),
        steps_(context.arena),
        table_(context.arena) {}
  const char* name() const override { return "Goldilocks"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    AccessClass c = class_of(access.kind);
    bool raced = false;
    SpinGuard guard(lock_);
    Element self = flow_.thread(thread.tid);
    table_.access(access.address, access.size, [&](Grants& grants, uptr at, u32 size) {
      Grant* mine = nullptr;
      bool reported = false;
      for (Grant** link = &grants.first; *link;) {
        Grant& g = **link;
        if (g.note.thread == note.thread) {
          if (g.c == c) mine = &g;
        } else if (conflicts(c, g.c)) {
          if (!handed_over(g, note, self)) {
            raced = true;
            if (!reported) findings_.race({"Goldilocks", at, size, g.note.side(), note.side()});
            reported = true;
          } else if (c ==
                     AccessClass::kWrite) {  // what happens after this write happens after that access too
            Grants::remove(arena_, *link);
            continue;
          }
        }
        link = &g.next;
      }
      if (!mine) {
        mine = static_cast<Grant*>(arena_.allocate(sizeof(Grant)));
        *mine = {grants.first, note, c, 0, 0, {}};
        grants.first = mine;
      }
      mine->note = note;
      mine->place = mine->made = first_ + steps_.size();
      mine->who.count = 0;
      mine->who.add(arena_, self);
    });
    return raced ? Pass::kGive : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    SpinGuard guard(lock_);
    if (sync.kind == SyncKind::kForget) last_forget_ = first_ + steps_.size() + 1;
    flow_.apply(thread, sync, *this);
    if (steps_.size() < kMostSteps) return;
    ++restarts_;
    table_.each([&](Grants& grants) {
      for (Grant* g = grants.first; g; g = g->next) advance(*g, Element::kNobody);
    });
    first_ += steps_.size();
    steps_.clear();
  }
  void fresh(uptr begin, uptr end) override {
    SpinGuard guard(lock_);
    table_.forget(begin, end);
  }
  void counters(CounterSink& out) const override {
    out.counter("Goldilocks: rules applied", applied_);
    out.counter("Goldilocks: short circuits", short_circuits_);
    out.counter("Goldilocks: lists restarted", restarts_);
  }

 private:
  static constexpr size_t kMostSteps = 1u << 22;  // 48 MiB
  static constexpr u32 kFollowed = 4096;
  struct Followed {  // accesses of `of` at places below `until` happened before what `by` does now
    Tid by, of;
    u64 until;
  };
  struct Step {
    Element who, from;
    bool replaces;
  };

  void learn(Element who, Element from) override { steps_.push() = {who, from, false}; }
  void become(Element who, Element from) override { steps_.push() = {who, from, true}; }

  /// Does this access happen after `g`? Two short circuits come first. The paper's: a thread that holds a
  /// lock that was held at `g` comes after it, if it is still the same lock. And what an earlier walk has
  /// shown: a thread that comes after an access of another comes after all that the other did before.
  bool handed_over(Grant& g, const AccessNote& by, Element self) {
    Followed& followed = followed_[(raw(by.thread) * 61 + raw(g.note.thread)) % kFollowed];
    bool same_pair = followed.by == by.thread && followed.of == g.note.thread;
    if ((same_pair && g.made < followed.until) ||
        (g.made >= last_forget_ && lock_sets_.exclude(g.note.locks, by.locks))) {
      ++short_circuits_;
      return true;
    }
    advance(g, self);
    if (!g.who.has(self)) return false;
    followed = {by.thread, g.note.thread, g.made + 1};
    return true;
  }

  /// Brings a set up to date; stops early when `wanted` is in it, for threads never leave a set.
  void advance(Grant& g, Element wanted) {
    if (g.who.has(wanted)) {
      ++short_circuits_;
      return;
    }
    u64 end = first_ + steps_.size();
    for (; g.place < end; ++g.place) {
      const Step& step = steps_.at(g.place - first_);
      if (g.who.has(step.from)) {
        ++applied_;
        g.who.add(arena_, step.who);
        if (step.who == wanted) {
          ++g.place;
          return;
        }
      } else if (step.replaces) {
        g.who.remove(step.who);
      }
    }
  }

  Arena& arena_;
  RaceSink& findings_;
  LockSets& lock_sets_;
  SpinLock lock_;  // everything below
  SyncFlow flow_;
  GrowingArray<Step> steps_;
  u64 first_ = 0;        // number of steps_[0]
  u64 last_forget_ = 0;  // number of the step after the last kForget
  LocationTable<Grants> table_;
  Followed followed_[kFollowed] = {};
  u64 applied_ = 0, short_circuits_ = 0, restarts_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Goldilocks, context);

}  // namespace duress
