// SPDX-License-Identifier: Apache-2.0
//
// Race-directed random testing, Algorithm 1 and 2 of the RaceFuzzer paper: a random walk that holds back
// every strand at a site of a suspected race until another is about to do the partner access to the same
// memory. Then both are next to each other, the race is real, and a coin decides which goes first. So a race
// is created, and each order of it taken with 1/2, however far apart the two accesses usually are.
//
// Differs from the paper in two points. It is after a set of pairs at once, and two accesses meet only if
// they are a pair of the set. And a strand that is let go because all are postponed, or because it has been
// for too long, does its access: put back under Algorithm 1 as it is written, it would be postponed again.
#include "sched/strategies/common.h"
#include "sched/strategies/site_pair_set.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

/// A strand's mark names the operation that its mark2 is about, as a count from 1. So what was said of an
/// operation lapses when the strand gets past it, also if it did so without being chosen, as the only one
/// that could run. mark2 is the choice at which it was postponed, or kDue.
class RaceFuzzer final : public Strategy {
 public:
  void start(const trail::Request& request) override {
    prng_ = Prng(request.seed);
    request_ = &request;
    targets_.fill(request.pairs().data(), request.pair_count);
    patience_ = request.expected_choices > kPatience ? request.expected_choices : kPatience;
    races_ = 0;
    created_used_ = 0;
  }

  StrandView* choose_thread(const Situation& situation) override {
    if (StrandView* strand = due_or_impatient(situation)) return strand;
    while (StrandView* strand = random_free(situation)) {
      if (!targets_.has_site(strand->next.site)) return strand;
      if (!meets_any(*strand, situation)) {
        postpone(*strand, situation.choice);
        continue;
      }
      if (prng_.chance(1, 2)) return strand;
      StrandView* first = make_racing_due(*strand, situation);
      postpone(*strand, situation.choice);
      return first;
    }
    // All are postponed, and none of them race: one has to go on.
    return situation.runnable[prng_.below(situation.count)];
  }

  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

  void finish(trail::Record& record) override {
    record.races_created = races_;
    for (u32 i = 0; i < created_used_; ++i) record.created[i] = created_[i];
  }

 private:
  static constexpr u64 kDue = ~u64{0};  // postponed, and now to run before anything else does
  static constexpr u32 kMostCreated = sizeof(trail::Record::created) / sizeof(trail::SitePair);
  // The monitor against livelocks: the number of choices for which a strand is held back at most. The
  // scheduler finds livelocks in which the others only spin (spinning strands are not runnable); this is for
  // those that do something while they wait. In an execution that is expected to be longer a strand is held
  // back longer, so that a partner at its very end is still found.
  static constexpr u64 kPatience = 200'000;

  static bool is_marked(const StrandView& strand) { return strand.mark == strand.operations + 1; }

  static void postpone(StrandView& strand, u64 choice) {
    strand.mark = strand.operations + 1;
    strand.mark2 = choice;
  }

  /// What the last choices left to do: the rest of the strands that go first in a race, and the monitor.
  StrandView* due_or_impatient(const Situation& situation) const {
    StrandView* impatient = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* strand = situation.runnable[i];
      if (!is_marked(*strand)) continue;
      if (strand->mark2 == kDue) return strand;
      if (!impatient && situation.choice - strand->mark2 > patience_) impatient = strand;
    }
    return impatient;
  }

  /// Any of the runnable that are not postponed; null if there is none.
  StrandView* random_free(const Situation& situation) {
    u32 free = 0;
    for (u32 i = 0; i < situation.count; ++i) free += !is_marked(*situation.runnable[i]);
    if (free == 0) return nullptr;
    u64 skip = prng_.below(free);
    u32 i = 0;
    while (is_marked(*situation.runnable[i]) || skip-- > 0) ++i;
    return situation.runnable[i];
  }

  /// Algorithm 2, for one postponed strand.
  bool racing(const StrandView& strand, const StrandView& postponed) const {
    return is_marked(postponed) && targets_.has_pair(strand.next.site, postponed.next.site) &&
           conflict(strand.next, postponed.next);
  }

  bool meets_any(const StrandView& strand, const Situation& situation) {
    bool any = false;
    for (u32 i = 0; i < situation.count; ++i) {
      const StrandView& other = *situation.runnable[i];
      if (!racing(strand, other)) continue;  // it is not marked itself
      any = true;
      note_race(strand.next.site, other.next.site);
    }
    return any;
  }

  StrandView* make_racing_due(const StrandView& strand, const Situation& situation) const {
    StrandView* first = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView* other = situation.runnable[i];
      if (!racing(strand, *other)) continue;
      other->mark2 = kDue;
      if (!first) first = other;
    }
    return first;
  }

  static bool same(const trail::SitePair& pair, u32 a, u32 b) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  }

  /// Writes a new pair down as the request has it: the host need not care which strand came first.
  void note_race(u32 a, u32 b) {
    ++races_;
    for (u32 i = 0; i < created_used_; ++i) {
      if (same(created_[i], a, b)) return;
    }
    if (created_used_ == kMostCreated) return;
    const trail::SitePair* pair = request_->pairs().data();
    while (!same(*pair, a, b)) ++pair;
    created_[created_used_++] = *pair;
  }

  Prng prng_{0};
  const trail::Request* request_ = nullptr;
  SitePairSet targets_;
  u64 patience_ = kPatience;
  u64 races_ = 0;
  trail::SitePair created_[kMostCreated] = {};  // distinct
  u32 created_used_ = 0;
};

constinit RaceFuzzer g_racefuzzer;

}  // namespace

DURESS_DEFINE_STRATEGY(Racefuzzer, g_racefuzzer);

}  // namespace duress::sched
